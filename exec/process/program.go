package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// program finds the file of Argv[0] as the task would: with a slash relative to where it starts, else in its PATH,
// where an empty or relative entry is relative to that too. It returns the path that the task sees.
func (r *Runner) program(s *Spec, env []string) (string, error) {
	name, work := s.Argv[0], r.start(s)
	if s.OwnProgram {
		work = r.seen(s.Dir).work
	}
	if strings.Contains(name, "/") {
		path := within(work, name)
		if err := r.executable(path, s.Dir); err != nil {
			return "", r.execError(s, path, err)
		}
		return path, nil
	}
	var denied error
	for _, dir := range filepath.SplitList(lookupEnv(env, "PATH")) {
		path := within(work, filepath.Join(dir, name))
		err := r.executable(path, s.Dir)
		if err == nil {
			return path, nil
		}
		if err == unix.ENOENT || denied != nil {
			continue
		}
		at, _ := r.outside(path, s.Dir)
		var st unix.Stat_t
		if unix.Stat(at, &st) == nil || err == errTemp { // there, but of no use
			denied = &ExecError{CannotExecute, path, err}
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &ExecError{NotFound, name, errors.New("not in the task's PATH")}
}

// errHidden is why a program that is there cannot be run: no box shows it.
var errHidden = errors.New("it is there, but not among the files that tasks see: start this node with --expose and " +
	"its folder")

// errTemp is why one in a temporary folder of the machine cannot.
var errTemp = errors.New("it is there, but each task has temporary folders of its own: take it along with --input, " +
	"or put it elsewhere and start this node with --expose")

func within(work, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(work, path)
}

// executable looks at the file only; whether the kernel takes it, the exec itself will tell.
func (r *Runner) executable(path, dir string) error {
	at, own := r.outside(path, dir)
	var st unix.Stat_t
	if err := unix.Stat(at, &st); err != nil {
		if at != path && unix.Stat(path, &st) == nil {
			return errTemp
		}
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return syscall.EISDIR
	case st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0:
		return syscall.EACCES
	case !own && !r.sandbox.Shows(at): // last: the links of a path are followed one by one
		return errHidden
	}
	return nil
}

// execError sorts what an exec failed with: a program that is not there (127), one that this machine
// cannot execute (126), or trouble of the machine itself, which says nothing about the program. It is named as the job
// names it: the work folder means nothing to whoever submitted that.
func (r *Runner) execError(s *Spec, path string, err error) error {
	name := s.Argv[0]
	var no syscall.Errno
	if !errors.As(err, &no) {
		return &ExecError{CannotExecute, name, err}
	}
	switch no {
	case syscall.ENOENT, syscall.ENOTDIR:
		at, _ := r.outside(path, s.Dir)
		if _, e := os.Stat(at); e == nil { // the file is there, so its interpreter is not
			why := "its interpreter or loader is not on this machine"
			if r.sandbox.Boxes() {
				why += ", or not among the files that tasks see (--expose)"
			}
			return &ExecError{CannotExecute, name, errors.New(why)}
		}
		return &ExecError{NotFound, name, err}
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EINTR:
		return err
	}
	return &ExecError{CannotExecute, name, err}
}

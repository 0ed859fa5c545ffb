package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// program finds the file of Argv[0] as the task would: with a slash relative to its work folder,
// else in its PATH, where an empty or relative entry is relative to the work folder too.
func program(s *Spec, env []string) (string, error) {
	name, work := s.Argv[0], Work(s.Dir)
	if strings.Contains(name, "/") {
		path := within(work, name)
		if err := executable(path); err != nil {
			return "", execError(name, path, err)
		}
		return path, nil
	}
	var denied error
	for _, dir := range filepath.SplitList(lookupEnv(env, "PATH")) {
		path := within(work, filepath.Join(dir, name))
		err := executable(path)
		if err == nil {
			return path, nil
		}
		var st unix.Stat_t
		if denied == nil && unix.Stat(path, &st) == nil { // there, but of no use
			denied = &ExecError{CannotExecute, path, err}
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", &ExecError{NotFound, name, errors.New("not in the task's PATH")}
}

func within(work, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(work, path)
}

// executable looks at the file only; whether the kernel takes it, the exec itself will tell.
func executable(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return syscall.EISDIR
	case st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0:
		return syscall.EACCES
	}
	return nil
}

// execError sorts what an exec failed with: a program that is not there (127), one that this machine
// cannot execute (126), or trouble of the machine itself, which says nothing about the program. It is named as the job names it: the
// work folder means nothing to whoever submitted that.
func execError(name, path string, err error) error {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err
	}
	switch no {
	case syscall.ENOENT, syscall.ENOTDIR:
		if _, e := os.Stat(path); e == nil { // the file is there, so its interpreter is not
			return &ExecError{CannotExecute, name, errors.New("its interpreter or loader is not on this machine")}
		}
		return &ExecError{NotFound, name, err}
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EINTR:
		return err
	}
	return &ExecError{CannotExecute, name, err}
}

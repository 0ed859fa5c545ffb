package slurm

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// stream keeps one output of a task in a file, up to a bound. The file is made with its first byte.
type stream struct {
	path string
	most int64

	file    *os.File
	kept    int64
	dropped int64
	err     error
}

// copy moves what comes to the file until the end.
func (s *stream) copy(from io.Reader) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		s.write(b[:n])
		if err != nil {
			return
		}
	}
}

func (s *stream) write(b []byte) {
	keep := b[:min(int64(len(b)), s.most-s.kept)]
	if s.file == nil && s.err == nil && len(keep) > 0 {
		s.file, s.err = os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	}
	n := 0
	if s.file != nil && s.err == nil {
		n, s.err = s.file.Write(keep)
	}
	s.kept += int64(n)
	s.dropped += int64(len(b) - n)
}

// close ends the output, and returns how much is in the file and how much is not.
func (s *stream) close() (kept, dropped int64) {
	if s.file != nil {
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	if s.err != nil {
		s.err = fmt.Errorf("keep output in %s: %w", s.path, s.err)
	}
	return s.kept, s.dropped
}

// find returns the file of a program: with a slash in its name it is relative to the work folder, else in PATH.
func find(name, work string, env []string) (string, error) {
	within := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(work, path)
	}
	if strings.Contains(name, "/") {
		return within(name), executable(within(name))
	}
	var denied error
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		path := within(filepath.Join(dir, name))
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if os.IsPermission(err) && denied == nil {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("not in the task's PATH: %w", fs.ErrNotExist)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return &fs.PathError{Op: "execute", Path: path, Err: syscall.EACCES}
	}
	return nil
}

// lookup finds a variable; of several values the last one counts.
func lookup(env []string, name string) (value string) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

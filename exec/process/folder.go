package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The layout of an attempt's folder. Only work and tmp belong to the task; it cannot touch the files
// in which its own output is kept.
const (
	workName   = "work"   // the working folder and HOME; inputs go here, outputs come from here
	tmpName    = "tmp"    // TMPDIR
	stdoutName = "stdout" // made by Start
	stderrName = "stderr"
)

// Work is the working folder of the attempt in dir.
func Work(dir string) string { return filepath.Join(dir, workName) }

// Output is the file that keeps the attempt's stdout or stderr.
func Output(dir string, s Stream) string {
	if s == Stderr {
		return filepath.Join(dir, stderrName)
	}
	return filepath.Join(dir, stdoutName)
}

// Prepare makes the attempt's folder dir: dir/work and dir/tmp, and later Start puts dir/stdout and
// dir/stderr beside them. With Options.User, work and tmp belong to that user.
func (r *Runner) Prepare(dir string) error {
	if err := r.prepare(dir); err != nil {
		return fmt.Errorf("process: make folder of attempt: %w", err)
	}
	return nil
}

func (r *Runner) prepare(dir string) error {
	mode := fs.FileMode(0o700)
	if r.user != nil {
		mode = 0o711 // the user must pass, not look
	}
	err := os.Mkdir(dir, mode)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, mode)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, name := range [...]string{workName, tmpName} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if r.user != nil {
			if err := os.Chown(path, int(r.user.uid), int(r.user.gid)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove deletes the attempt's folder, also where the task took the permissions off its own folders.
// Files that the caller put into work before Start must be given to the user by the caller.
func Remove(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700) // before it is read: WalkDir calls first, reads then
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("process: remove folder of attempt: %w", err)
	}
	return nil
}

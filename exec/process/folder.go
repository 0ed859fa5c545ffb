package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The layout of an attempt's folder. Only work belongs to the task; it cannot touch the files in which
// its own output is kept. There are few files because making one is what a short task costs most: on
// some file systems, after many have been deleted, as much as starting its program.
const (
	workName   = "work"   // the working folder, HOME and TMPDIR; inputs go here, outputs come from here
	stdoutName = "stdout" // made with its first byte: a missing file is an empty output
	stderrName = "stderr"
)

// Work is the working folder of the attempt in dir.
func Work(dir string) string { return filepath.Join(dir, workName) }

// Output is the file that keeps the attempt's stdout or stderr. It is not there as long as it is empty.
func Output(dir string, s Stream) string {
	if s == Stderr {
		return filepath.Join(dir, stderrName)
	}
	return filepath.Join(dir, stdoutName)
}

// Prepare makes the attempt's folder dir with dir/work in it, which belongs to Options.User if that
// is set. The task's output appears beside it as dir/stdout and dir/stderr.
// What the caller puts into work before Start, the caller must give to that user.
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
	if err := os.Mkdir(Work(dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if r.user != nil {
		return os.Chown(Work(dir), int(r.user.uid), int(r.user.gid))
	}
	return nil
}

// Remove deletes the attempt's folder, also where the task took the permissions off its own folders.
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

// passable says whether the tasks' user can get to dir at all, and names the folder that is in the way.
func (a *account) passable(dir string) error {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return fmt.Errorf("process: look at folder of attempt: %w", err)
		}
		st := info.Sys().(*syscall.Stat_t)
		bit := fs.FileMode(0o001)
		switch {
		case st.Uid == a.uid:
			bit = 0o100
		case st.Gid == a.gid:
			bit = 0o010
		}
		if info.Mode()&bit == 0 {
			return fmt.Errorf("process: %s cannot pass through %s: permit it (chmod o+x) or keep attempts elsewhere", a.name, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

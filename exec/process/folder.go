package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"skep/exec/sandbox/zygote"
)

// The layout of an attempt's folder. All of it belongs to the task; what it prints is kept beside it, where it cannot
// come by. There are few files because making one is what a short task costs most: on some file systems, after many
// have been deleted, as much as starting its program.
const (
	workName = "work" // the working folder and HOME; inputs go here, outputs come from here
	tempName = "tmp"  // TMPDIR; in a box /tmp and /var/tmp

	stdoutSuffix = ".stdout" // made with its first byte: a missing file is an empty output
	stderrSuffix = ".stderr"
)

// Work is the working folder of the attempt in dir.
func Work(dir string) string { return filepath.Join(dir, workName) }

// Output is the file that keeps the attempt's stdout or stderr. It is not there as long as it is empty.
func Output(dir string, s Stream) string {
	if s == Stderr {
		return dir + stderrSuffix
	}
	return dir + stdoutSuffix
}

// Prepare makes the attempt's folder dir with dir/work in it. Where the node is root both belong to a user ID that no
// other attempt has, until Remove: what the caller puts into work before Start, it must give to that user (Owner). In a
// box dir is an entry of the folder of attempts. The task's output appears beside it.
func (r *Runner) Prepare(dir string) error {
	if err := r.prepare(dir); err != nil {
		return fmt.Errorf("process: make folder of attempt: %w", err)
	}
	return nil
}

func (r *Runner) prepare(dir string) error {
	if r.sandbox.Boxes() && filepath.Dir(dir) != r.work {
		return fmt.Errorf("%s is not in %s, the folder of attempts", dir, r.work)
	}
	id, err := r.claim(dir, r.sandbox.TakeID, r.sandbox.ReleaseID)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o700)
	if id != 0 {
		mode = 0o711 // its user must pass, not look
	}
	err = os.Mkdir(dir, mode)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(dir, mode)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, name := range [...]string{workName, tempName} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if id != 0 {
			if err := os.Lchown(path, int(id), int(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// claim gives an attempt its user ID, if the node has some to give. Taking one may need a walk of all that is exposed
// for writing, behind which no other task may wait.
func (r *Runner) claim(dir string, take func() (uint32, error), giveBack func(id uint32, left bool)) (uint32, error) {
	if id := r.Owner(dir); id != 0 {
		return id, nil
	}
	id, err := take()
	if err != nil || id == 0 {
		return id, err
	}
	r.mu.Lock()
	had := r.ids[dir]
	if had == 0 {
		r.ids[dir] = id
	}
	r.mu.Unlock()
	if had != 0 { // by another call for this folder
		giveBack(id, false)
		return had, nil
	}
	return id, nil
}

// Owner is the user and group ID of an attempt; 0 is the node's own.
func (r *Runner) Owner(dir string) uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[dir]
}

// Remove deletes the attempt's folder and output, also where the task took the permissions off its own folders.
func (r *Runner) Remove(dir string) error {
	if err := Remove(dir); err != nil {
		return err // what is left has its user ID
	}
	r.mu.Lock()
	id, hangs := r.ids[dir], r.hung[dir]
	delete(r.ids, dir)
	delete(r.hung, dir)
	r.mu.Unlock()
	if id != 0 {
		r.sandbox.ReleaseID(id, hangs)
	}
	return nil
}

// Remove deletes a folder of attempts, or of one with its output. The tasks whose folders these were may have left
// anything there: no link is followed, and nothing outside is touched.
func Remove(dir string) error {
	for _, s := range [...]Stream{Stdout, Stderr} {
		if err := os.Remove(Output(dir, s)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("process: remove output of attempt: %w", err)
		}
	}
	if err := removeTree(dir); err != nil {
		return fmt.Errorf("process: remove folder of attempt: %w", err)
	}
	return nil
}

// places are where a task finds its folders.
type places struct{ work, temp string }

// seen are those of the attempt in dir, as the task sees them.
func (r *Runner) seen(dir string) places {
	if r.sandbox.Boxes() {
		dir = zygote.Task
	}
	return places{filepath.Join(dir, workName), filepath.Join(dir, tempName)}
}

// outside is where a path that a task sees is on this machine; false if it is not among the files that tasks see.
func (r *Runner) outside(path, dir string) (string, bool) {
	if !r.sandbox.Boxes() {
		return path, true
	}
	path = filepath.Clean(path)
	for _, own := range [...]struct{ seen, at string }{{zygote.Task, dir}, {"/tmp", filepath.Join(dir, tempName)},
		{"/var/tmp", filepath.Join(dir, tempName)}} {
		if rest, found := strings.CutPrefix(path, own.seen); found && (rest == "" || rest[0] == '/') {
			return own.at + rest, true
		}
	}
	return path, r.sandbox.Shows(path)
}

// Passable reports the folder that keeps the users of attempts from the folders of attempts in work, where tasks have
// users of their own and no boxes.
func (r *Runner) Passable(work string) error {
	if os.Geteuid() != 0 || r.sandbox.Boxes() {
		return nil
	}
	return passable(work, 0)
}

// passable says whether a user can get to a folder in dir, and names the folder that is in the way. User 0 stands for
// any one that owns none of them.
func passable(dir string, id uint32) error {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return fmt.Errorf("process: look at folder of attempt: %w", err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if ok && (id == 0 || st.Uid != id) && info.Mode()&0o001 == 0 {
			return fmt.Errorf("process: the users that tasks run as cannot pass through %s: permit it (chmod o+x) or keep "+
				"the node's data elsewhere", at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"skep/exec/progress"
	"skep/exec/sandbox/zygote"
)

// The layout of an attempt's folder. What is in these two belongs to the task; what it prints is kept beside the
// folder, where it cannot come by. There are few files because making one is what a short task costs most: on some file
// systems, after many have been deleted, as much as starting its program.
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

// Account is the user and group that an attempt runs as. Without a name it is an ID that no account and no other
// attempt has. The zero one is the node's own.
type Account struct {
	UID, GID uint32
	Name     string
}

// Prepare makes the attempt's folder dir with dir/work in it. Where the node is root both belong to a user, until
// Remove: the given one or, for the zero Account, an ID that no other attempt has. What the caller puts into work
// before Start, it must give to that user (Owner). In a box dir is an entry of the folder of attempts. The task's
// output appears beside it.
func (r *Runner) Prepare(dir string, as Account) error {
	if err := r.prepare(dir, as); err != nil {
		return fmt.Errorf("process: make folder of attempt: %w", err)
	}
	return nil
}

func (r *Runner) prepare(dir string, as Account) error {
	if r.sandbox.Boxes() && filepath.Dir(dir) != r.work {
		return fmt.Errorf("%s is not in %s, the folder of attempts", dir, r.work)
	}
	take := r.lease
	if as.UID != 0 {
		take = func() (Account, error) { return as, nil }
	}
	to, err := r.claim(dir, take, r.giveBack)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o700)
	if to.UID != 0 {
		mode = 0o711 // its user must pass, not look
	}
	furnished, err := r.spares.take(dir, mode)
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, tempName)
	for _, path := range [...]string{filepath.Join(dir, workName), temp} {
		if !furnished {
			if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		if to.UID != 0 {
			if err := os.Lchown(path, int(to.UID), int(to.GID)); err != nil {
				return err
			}
		}
	}
	give := progress.Make // where there can be no FIFO, the task is not asked
	if furnished {
		give = progress.Give
	}
	_ = give(temp, to.UID, to.GID)
	return nil
}

// lease returns an ID that no other attempt has, if the node has some to give. It may need a walk of all that is
// exposed for writing.
func (r *Runner) lease() (Account, error) {
	id, err := r.sandbox.TakeID()
	return Account{UID: id, GID: id}, err
}

// giveBack gives a leased ID back, of which processes may be left.
func (r *Runner) giveBack(to Account, left bool) {
	if to.UID != 0 && to.Name == "" {
		r.sandbox.ReleaseID(to.UID, left)
	}
}

// claim gives an attempt the user that take returns, behind which no other task may wait, unless it has one.
func (r *Runner) claim(dir string, take func() (Account, error), giveBack func(to Account, left bool)) (Account,
	error) {
	if to := r.Owner(dir); to.UID != 0 {
		return to, nil
	}
	to, err := take()
	if err != nil || to.UID == 0 {
		return Account{}, err
	}
	r.mu.Lock()
	had := r.owners[dir]
	if had.UID == 0 {
		r.owners[dir] = to
	}
	r.mu.Unlock()
	if had.UID != 0 { // by another call for this folder
		giveBack(to, false)
		return had, nil
	}
	return to, nil
}

// Owner is the user of an attempt; the zero Account is the node's own.
func (r *Runner) Owner(dir string) Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owners[dir]
}

// Hangs reports whether a process of the attempt that has ended hangs in the kernel, and so keeps what it has open.
func (r *Runner) Hangs(dir string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hung[dir]
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

// Temp returns the folder of temporary files of the attempt in dir: where it is, and where the task sees it.
func (r *Runner) Temp(dir string) (at, seen string) {
	return filepath.Join(dir, tempName), r.seen(dir).temp
}

// outside is where a path that a task sees is on this machine; own reports that it is in a folder of its attempt.
func (r *Runner) outside(path, dir string) (at string, own bool) {
	if !r.sandbox.Boxes() {
		return path, false
	}
	path = filepath.Clean(path)
	for _, own := range [...]struct{ seen, at string }{{zygote.Task, dir}, {"/tmp", filepath.Join(dir, tempName)},
		{"/var/tmp", filepath.Join(dir, tempName)}} {
		if rest, found := strings.CutPrefix(path, own.seen); found && (rest == "" || rest[0] == '/') {
			return own.at + rest, true
		}
	}
	return path, false
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

//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// removeDepth is how many folders are open at a time. What is nested deeper, as a task may have done to use them up, is
// moved up first.
const removeDepth = 48

// removeTurns is how often a folder may be moved up or all be looked through again: more often than a task may have
// files. Without boxes a process that has left its task may go on and make folders faster than they are removed.
var removeTurns = 1 << 18

var errFilled = errors.New("it is filled again as it is emptied")

// Remove deletes the attempt's folder and output, also where the task took the permissions off its own folders. The
// folder itself may be kept, empty, for another attempt.
func (r *Runner) Remove(dir string) error {
	r.mu.Lock()
	to, hangs := r.owners[dir], r.hung[dir]
	r.mu.Unlock()
	own := (r.sandbox.Boxes() || to.UID != 0) && !hangs // no task could change it
	if err := r.remove(dir, own); err != nil {
		return err // what is left has its user ID
	}
	r.mu.Lock()
	delete(r.owners, dir)
	delete(r.hung, dir)
	r.mu.Unlock()
	r.giveBack(to, hangs)
	return nil
}

// remove deletes an attempt's folder and output. One that no task could change may be kept.
func (r *Runner) remove(dir string, own bool) error {
	if !own {
		return Remove(dir)
	}
	if err := removeOutput(dir); err != nil || r.spares.recycle(dir) {
		return err
	}
	return removeFolder(dir, func() bool { return r.spares.keep(dir) })
}

// Remove deletes a folder of attempts, or of one with its output. The tasks whose folders these were may have left
// anything there: no link is followed, and nothing outside is touched.
func Remove(dir string) error {
	if err := removeOutput(dir); err != nil {
		return err
	}
	return removeFolder(dir, func() bool { return false })
}

func removeOutput(dir string) error {
	for _, s := range [...]Stream{Stdout, Stderr} {
		err := error(unix.EINTR)
		for err == unix.EINTR {
			err = unix.Unlink(Output(dir, s)) // one call less than os.Remove
		}
		if err != nil && err != unix.ENOENT && err != unix.ENOTDIR { // of the latter emptyTree tells
			return fmt.Errorf("process: remove output of attempt %s: %w", Output(dir, s), err)
		}
	}
	return nil
}

// removeFolder deletes the folder of an attempt, but leaves it, once it is empty, to keep if that takes it.
func removeFolder(dir string, keep func() bool) error {
	if err := emptyTree(dir, keep); err != nil {
		return fmt.Errorf("process: remove folder of attempt: %w", err)
	}
	return nil
}

// removeTree removes a folder and all in it. It goes by open folders and follows no link, so that nothing else is
// removed or changed however the folder was made. Folders of any mode are entered: root is kept out by none, another
// user changes it.
func removeTree(dir string) error { return emptyTree(dir, func() bool { return false }) }

// emptyTree is removeTree, but leaves the folder, once it is empty, to keep if that takes it.
func emptyTree(dir string, keep func() bool) error {
	parent, err := unix.Open(filepath.Dir(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Dir(dir), Err: err}
	}
	defer unix.Close(parent)
	name := filepath.Base(dir)
	switch err := unix.Unlinkat(parent, name, 0); err {
	case nil, unix.ENOENT:
		return nil
	case unix.EISDIR, unix.EPERM:
	default:
		return &os.PathError{Op: "remove", Path: dir, Err: err}
	}
	r := remover{left: removeTurns}
	for {
		if r.top, err = enter(parent, name); err != nil {
			return &os.PathError{Op: "open", Path: dir, Err: err}
		}
		r.again = false
		err := r.empty(r.top, 0)
		unix.Close(r.top)
		if r.left--; err == nil && r.again && r.left < 0 {
			err = errFilled
		}
		if err != nil {
			return &os.PathError{Op: "remove", Path: dir, Err: err}
		}
		if !r.again {
			break
		}
	}
	if keep() {
		return nil
	}
	if err := unix.Unlinkat(parent, name, unix.AT_REMOVEDIR); err != nil {
		return &os.PathError{Op: "remove", Path: dir, Err: err}
	}
	return nil
}

// remover removes what is in a folder.
type remover struct {
	top   int  // that folder
	again bool // something is left to remove after this pass
	left  int  // turns
}

// enter opens a folder, whatever its permissions are, to be listed and emptied.
func enter(parent int, name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, name, flags, 0)
	if err == unix.EACCES && permit(parent, name) == nil {
		fd, err = unix.Openat(parent, name, flags, 0)
	}
	if err != nil || os.Geteuid() == 0 {
		return fd, err
	}
	var st unix.Stat_t
	// one that can be read may not be searched or written to
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&0o700 != 0o700 {
		err = unix.Fchmod(fd, 0o700)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// empty removes all that is in an open folder, of which nothing has been read. Where the kernel counts entries to know
// how far it has read, as on macOS, it passes over some while others are removed: there it reads until nothing is left.
func (r *remover) empty(folder, depth int) error {
	for buf, some := make([]byte, 8192), false; ; {
		names, err := readNames(folder, buf)
		if err == nil && len(names) == 0 && some && runtime.GOOS != "linux" {
			some = false
			if _, err = unix.Seek(folder, 0, io.SeekStart); err == nil {
				continue
			}
		}
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := r.remove(folder, name, depth); err != nil {
				return err
			}
		}
		some = true
	}
}

func (r *remover) remove(folder int, name string, depth int) error {
	switch err := unix.Unlinkat(folder, name, 0); err {
	case nil, unix.ENOENT:
		return nil
	case unix.EISDIR, unix.EPERM:
	default:
		return err
	}
	if unix.Unlinkat(folder, name, unix.AT_REMOVEDIR) == nil { // most are empty
		return nil
	}
	if depth >= removeDepth {
		return r.moveUp(folder, name)
	}
	below, err := enter(folder, name)
	if err != nil {
		return err
	}
	err = r.empty(below, depth+1)
	unix.Close(below)
	if err != nil || r.again && depth+1 >= removeDepth {
		return err
	}
	if err = unix.Unlinkat(folder, name, unix.AT_REMOVEDIR); err == unix.ENOTEMPTY {
		r.again = true
		return nil
	}
	return err
}

// moveUp moves a folder to the top, under a name that no task can have foreseen.
func (r *remover) moveUp(folder int, name string) error {
	if r.left--; r.left < 0 {
		return errFilled
	}
	if err := permit(folder, name); err != nil {
		return err
	}
	r.again = true
	for range 8 {
		err := unix.Renameat(folder, name, r.top, "moved-"+strconv.FormatUint(rand.Uint64(), 36))
		switch err {
		case unix.EEXIST, unix.ENOTEMPTY, unix.ENOTDIR: // that name is there
		default:
			return err
		}
	}
	return unix.EEXIST
}

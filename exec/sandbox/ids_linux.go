//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// ids are the user IDs of a node that runs as root: each attempt has one, from when its folder is made until that is
// gone. One is given again only when no process and no file of it is left.
type ids struct {
	first, count uint32 // of its first block
	all          Range
	dir          string              // of the locks
	fixed        bool                // no further block can be had: a user namespace maps the first
	warn         func(string, error) // tells the operator

	looks sync.Mutex // held for a look, which may take long

	mu     sync.Mutex
	locks  []*os.File
	blocks []Range
	shared []string // places outside of boxes in which tasks can leave files
	next   uint32
	state  map[uint32]idState
}

type idState uint8

const (
	idUsed idState = iota + 1
	idLeft         // its attempt is over, and may have left a process, or something in a shared place
)

const (
	idBlock = 1024 // IDs of one node: several nodes of a machine share a range
)

// locks is where nodes of a machine see which blocks others have.
const locks = "/run/skep"

// claim takes a block of a range that no other node of this machine has.
func claim(r Range, instead string) (*ids, error) {
	r, err := usable(r, mapped("/proc/self/uid_map"), mapped("/proc/self/gid_map"))
	if err != nil {
		return nil, err
	}
	dir := locks
	if err := os.MkdirAll(dir, 0o700); err != nil { // a container may have no such place, and no other node
		if dir = instead; os.MkdirAll(dir, 0o700) != nil {
			return nil, fmt.Errorf("claim user IDs: %w", err)
		}
	}
	i := &ids{all: r, dir: dir, warn: func(string, error) {}, state: make(map[uint32]idState)}
	block, err := i.block(0)
	if err != nil {
		return nil, err
	}
	i.first, i.count = block.First, block.Count
	return i, nil
}

// block adds a block that no other node has; with os.O_EXCL one that no node has had since the machine started.
func (i *ids) block(how int) (Range, error) {
	for at := uint32(0); at < i.all.Count; at += idBlock {
		b := Range{i.all.First + at, min(i.all.Count-at, idBlock)}
		f, err := os.OpenFile(filepath.Join(i.dir, fmt.Sprint("ids-", b.First)), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|how,
			0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return b, fmt.Errorf("claim user IDs: %w", err)
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			i.locks, i.blocks = append(i.locks, f), append(i.blocks, b)
			return b, nil
		}
		f.Close()
		if err != unix.EWOULDBLOCK {
			return b, fmt.Errorf("claim user IDs: %w", err)
		}
	}
	return Range{}, fmt.Errorf("user IDs %s: other nodes of this machine have them all: want a larger range (task_uids)",
		i.all)
}

// share says in which places tasks can leave files that no box takes away. From then on an ID may have some of a former
// run.
func (i *ids) share(places []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shared = places
	for id := i.first; id < i.first+i.count; id++ {
		i.state[id] = idLeft
	}
}

// TakeID returns a user ID for an attempt that nothing on this machine has; 0 where the node is not root and has none
// to give.
func (s *Sandbox) TakeID() (uint32, error) {
	if s.ids == nil {
		return 0, nil
	}
	return s.ids.take()
}

// ReleaseID gives one back whose folder is gone. If processes of it may be left it is not given again before they are
// gone.
func (s *Sandbox) ReleaseID(id uint32, left bool) { s.ids.release(id, left) }

// take returns an ID that nothing on the machine has.
func (i *ids) take() (uint32, error) {
	if id := i.free(); id != 0 {
		return id, nil
	}
	i.looks.Lock()
	defer i.looks.Unlock()
	if id := i.free(); id != 0 { // another has looked meanwhile
		return id, nil
	}
	err := i.look()
	if errors.Is(err, errFull) && !i.fixed {
		i.mu.Lock()
		block, none := i.block(os.O_EXCL)
		i.mu.Unlock()
		if none != nil {
			return 0, errors.Join(err, none)
		}
		i.warn(fmt.Sprintf("further user IDs are taken, %s: remove files of tasks from folders that are exposed for writing",
			block), err)
	} else if err != nil {
		return 0, err
	}
	if id := i.free(); id != 0 {
		return id, nil
	}
	return 0, fmt.Errorf("all %d user IDs for tasks have processes or files", i.count)
}

// free takes an ID of which nothing is left; 0 = there is none.
func (i *ids) free() uint32 {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, b := range i.blocks {
		for range b.Count {
			id := b.First + i.next%b.Count
			i.next++
			if i.state[id] == 0 {
				i.state[id] = idUsed
				return id
			}
		}
	}
	return 0
}

// release gives an ID back whose folder is gone; left says that processes of it may be there.
func (i *ids) release(id uint32, left bool) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if delete(i.state, id); left || len(i.shared) > 0 {
		i.state[id] = idLeft
	}
}

func (i *ids) close() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range i.locks {
		f.Close()
	}
}

// checkAccounts reports an account of the machine that tasks cannot have here. What else runs as it could move what
// root puts into a task's folder, were that not alone in a box; and only a control group tells its processes from
// those.
func (s *Sandbox) checkAccounts() error {
	for i := range s.opts.Expose {
		e := &s.opts.Expose[i]
		as, _ := e.Grant.IDs()
		why := ""
		switch {
		case as.User == 0:
		case !s.mode.boxes:
			why = "tasks have no boxes here"
		case s.mode.mapped:
			why = "the user namespace in which this container lets the node mount has no such user"
		case s.groups == nil:
			why = "there are no control groups to be had here, which bound a task among all that the user runs"
		case s.ids.all.holds(uint64(as.User), 1):
			why = fmt.Sprintf("%d is one of the IDs that tasks get (task_uids %s)", as.User, s.ids.all)
		}
		if why != "" {
			return fmt.Errorf("expose %s: %s: want it without as and for", e, why)
		}
	}
	return nil
}

package process

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"skep/exec/progress"
)

// maxSpares bounds the emptied folders that are kept: as many as attempts begin and end at a time.
const maxSpares = 64

// spares are emptied folders of attempts, to be used again: making a folder, on a file system from which many have just
// been removed, costs as much as a short task. Only what no task can change is used again. The folders in it are new
// ones, made before there is an attempt that would wait for it.
type spares struct {
	dir string

	mu    sync.Mutex
	free  []string
	taken int // are made ready
	named uint64
}

// open empties the folder of spares. Where that cannot be had there are none.
func (s *spares) open(dir string) {
	if removeTree(dir) != nil || os.MkdirAll(dir, 0o711) != nil {
		return
	}
	spread(dir)
	s.dir = dir
}

// take makes the folder of an attempt, of a spare one if there is any. One that is there stays.
func (s *spares) take(dir string, mode fs.FileMode) error {
	if spare := s.get(mode); spare != "" {
		if os.Rename(spare, dir) == nil {
			return nil
		}
		removeTree(spare)
	}
	return os.MkdirAll(dir, mode) // it is there, or what it is to lie in is not, or is on another file system
}

// get returns the path of a spare folder, which may be new; "" = there is none.
func (s *spares) get(mode fs.FileMode) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		return ""
	}
	if n := len(s.free); n > 0 {
		path := s.free[n-1]
		s.free = s.free[:n-1]
		return path
	}
	path := s.name()
	if os.Mkdir(path, mode) != nil {
		return ""
	}
	return path
}

// name is a new one; the lock is held.
func (s *spares) name() string {
	s.named++
	return filepath.Join(s.dir, strconv.FormatUint(s.named, 10))
}

// keep takes the empty folder of an attempt, and reports whether there is room for it.
func (s *spares) keep(dir string) bool {
	s.mu.Lock()
	if s.dir == "" || len(s.free)+s.taken == maxSpares {
		s.mu.Unlock()
		return false
	}
	spare := s.name()
	s.taken++
	s.mu.Unlock()
	moved := os.Rename(dir, spare) == nil
	ready := moved && furnish(spare)
	if moved && !ready {
		removeTree(spare)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	switch {
	case ready && s.dir != "":
		s.free = append(s.free, spare)
	case ready: // closed meanwhile
		removeTree(spare)
	}
	return moved
}

// furnish makes the folders in a spare one, and reports whether there is nothing else in it: what a task left there,
// which a rename would not tell, must not reach another one.
func furnish(spare string) bool {
	names := [...]string{workName, tempName}
	for _, name := range names {
		if os.Mkdir(filepath.Join(spare, name), 0o700) != nil {
			return false
		}
	}
	_ = progress.Make(filepath.Join(spare, tempName), 0, 0) // else it is made when there is an attempt
	in, err := os.ReadDir(spare)
	return err == nil && len(in) == len(names)
}

// close removes them.
func (s *spares) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir != "" {
		removeTree(s.dir)
	}
	s.dir, s.free = "", nil
}

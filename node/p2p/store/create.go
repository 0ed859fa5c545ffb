package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolt "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"

	"skep/node/p2p/disk"
)

// errBeingMade reports that another process has created the file meanwhile.
var errBeingMade = errors.New("another node is just making it")

// create creates the database under a draft name and renames it once it is complete and on disk: a crash meanwhile
// must not leave a folder whose database cannot be read. The creator holds the lock from the beginning, through the
// rename, since a lock belongs to the file and not to its name.
func (s *Store) create() (err error) {
	path := filepath.Join(s.dir, File)
	draft := path + ".new"
	options := options()
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		return takeDraft(name, path, flag, mode)
	}
	if s.db, err = bbolt.Open(draft, 0o600, options); err != nil {
		return err
	}
	if err = s.prepare(); err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		os.Remove(draft)
		s.db.Close()
		return err
	}
	if err = disk.Sync(s.dir); err != nil {
		s.db.Close()
	}
	return err
}

// takeDraft opens and locks the draft, and truncates what a crash left. Another process may create the database at
// the same time: then it has the lock, or, once it has let go, the name is not that file's any more, or there is a
// database.
func takeDraft(draft, path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(draft, flag, mode)
	if err != nil {
		return nil, err
	}
	err = lock(f)
	if err == nil && !hasName(f, draft) {
		err = errBeingMade
	}
	if err == nil {
		if _, err2 := os.Lstat(path); !errors.Is(err2, fs.ErrNotExist) {
			os.Remove(draft)
			err = errBeingMade
		}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func lock(f *os.File) error {
	for end := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			return err
		}
		if time.Now().After(end) {
			return bolt.ErrTimeout
		}
	}
}

// hasName reports whether f is the file of that name.
func hasName(f *os.File, name string) bool {
	a, err := f.Stat()
	b, err2 := os.Lstat(name)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

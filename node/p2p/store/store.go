package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolt "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"

	"skep/grid"
	"skep/node/p2p/disk"
)

// File is the database's name in a data folder.
const File = "skep.db"

// Errors of an unusable data folder.
var (
	ErrInUse    = errors.New("in use by another node")
	ErrNewer    = errors.New("written by a newer Skep")
	ErrDamaged  = errors.New("damaged")
	ErrNoAccess = errors.New("not writable")
	ErrFull     = errors.New("the disk is full")
	ErrGone     = errors.New("gone, or another one is in its place")
)

// format is the version of the file's layout: buckets and keys. Values have versions of their own.
// Format 2 has a register for every job, format 3 sums, format 4 a log; see convert.
const format = 4

var (
	metaBucket   = []byte("meta")
	recordBucket = []byte("records")
	dataBucket   = []byte("data")
	formatKey    = []byte("format")
	bootKey      = []byte("boot")
	ownerKey     = []byte("owner")
)

// Store is the database of a data folder. Its methods are safe for concurrent use; writers wait for each other.
type Store struct {
	db   *bbolt.DB
	info os.FileInfo // of the file, as it was opened
	dir  string
	log  recordLog
	buf  []byte // for the changes of a Commit

	converted *Conversion // by Open; nil = the database was not of format 1
	found     Damage      // by Open
	saved     savedNumber
}

// lockWait is how long Open waits for another process to release the file: long enough for one that is just ending,
// short enough for an immediate answer.
const lockWait = 100 * time.Millisecond

// mapSize is address space, not memory: growing the map has to wait for readers, so it starts large.
const mapSize = 256 << 20

// Open opens the database of a data folder, and creates folder and file, for the owner alone, if they do not exist. A
// database of format 1 is converted; see Converted. Errors wrap ErrInUse, ErrNewer, ErrDamaged, ErrNoAccess or ErrFull.
func Open(dir string) (*Store, error) { return openFolder(dir, false) }

// OpenForData is Open for the Datastore alone: it does not look at the log. A copy of the folder of a node that ran
// meanwhile may have one that does not belong to its database. There are no records to be read or committed.
func OpenForData(dir string) (*Store, error) { return openFolder(dir, true) }

func openFolder(dir string, withoutLog bool) (*Store, error) {
	if err := disk.MakeFolder(dir, 0o700); err != nil {
		return nil, explain(dir, err)
	}
	s := &Store{dir: dir, buf: make([]byte, 0, 64<<10)}
	s.log.none = withoutLog
	path := filepath.Join(dir, File)
	m, err := readMark(dir)
	if err == nil {
		err = errBeingMade
	}
	for n := 0; n < 3 && err == errBeingMade; n++ {
		if _, missing := os.Lstat(path); !errors.Is(missing, fs.ErrNotExist) {
			err = s.open(path)
		} else if err = m.missing(); err == nil {
			err = s.create()
		}
	}
	if err == nil {
		if err = s.settle(m, path); err != nil {
			s.db.Close()
		}
	}
	if err != nil {
		return nil, explain(dir, err)
	}
	return s, nil
}

// settle brings what was opened to today's format and checks it.
func (s *Store) settle(m mark, path string) error {
	err := s.db.View(m.check)
	if err == nil {
		err = s.convert()
	}
	if err == nil {
		err = s.verify()
	}
	if err == nil && !s.log.none {
		err = s.replay()
	}
	if err == nil {
		s.info, err = os.Stat(path)
	}
	return err
}

// checkNames reports whether the files still have their names. Otherwise writes are lost without an error.
func (s *Store) checkNames() error {
	if err := s.checkName(File, s.info); err != nil || s.log.info == nil {
		return err
	}
	return s.checkName(LogFile, s.log.info)
}

func (s *Store) checkName(name string, file os.FileInfo) error {
	if info, err := os.Stat(filepath.Join(s.dir, name)); err != nil || !os.SameFile(info, file) {
		return fmt.Errorf("%s is %w", name, ErrGone)
	}
	return nil
}

func options() *bbolt.Options {
	return &bbolt.Options{
		Timeout:         lockWait,
		NoFreelistSync:  true, // a smaller write at each commit, for a scan of the file at start
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: mapSize,
		NoStatistics:    true,
	}
}

func (s *Store) open(path string) error {
	if err := checkDatabase(path); err != nil {
		return err
	}
	var file *os.File
	options := options()
	options.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	err := recoverPanic(func() (err error) {
		if s.db, err = bbolt.Open(path, 0o600, options); err == nil {
			err = s.prepare()
		}
		return err
	})
	switch {
	case err == nil:
	case s.db != nil:
		s.db.Close()
	case file != nil:
		unix.Flock(int(file.Fd()), unix.LOCK_UN) // after a panic bbolt has not, and the mapping holds the lock
		file.Close()
	}
	return err
}

// Owner returns the node whose records these are; zero before its first start.
func (s *Store) Owner() (id grid.NodeID, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(metaBucket).Get(ownerKey); v != nil && copy(id[:], v) != len(id) {
			return fmt.Errorf("%w: %s has %d bytes of its owner", ErrDamaged, File, len(v))
		}
		return nil
	})
	return id, explain(s.dir, err)
}

// NextBoot counts a start of the node, which is the Owner from now on, and returns the count, 1 for the first. The
// count is on disk first, and then in the mark: the other way round, a crash between the two would make an intact
// database look like an old one.
func (s *Store) NextBoot(owner grid.NodeID) (uint64, error) { return s.NextBootAfter(owner, 0) }

// NextBootAfter is NextBoot where a copy of the folder has counted others starts: the count is above that, too.
func (s *Store) NextBootAfter(owner grid.NodeID, others uint64) (uint64, error) {
	var boot uint64
	err := s.db.Update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		boot = max(bootOf(tx), others) + 1
		if err := meta.Put(ownerKey, owner[:]); err != nil {
			return err
		}
		if err := meta.Put(bootKey, binary.BigEndian.AppendUint64(nil, boot)); err != nil {
			return err
		}
		return openRecords(tx).save()
	})
	if err == nil {
		err = mark{owner, boot}.write(s.dir)
	}
	if err != nil {
		return 0, explain(s.dir, err)
	}
	return boot, nil
}

// Close puts what the log holds into the database, so that this alone is complete, and releases the data folder. After
// an error the log still has it. It waits for transactions; later calls of other methods fail.
func (s *Store) Close() error {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	var err error
	if s.log.file != nil {
		err = explain(s.dir, errors.Join(s.flush(nil, false), s.log.file.Close()))
		s.log.file = nil
	}
	return errors.Join(err, s.db.Close())
}

// explain turns an error of the database or the file system into one about the data folder.
func explain(dir string, err error) error {
	why := func(reason error) error { return fmt.Errorf("data folder %s: %w: %w", dir, reason, err) }
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolt.ErrTimeout), errors.Is(err, errBeingMade):
		return fmt.Errorf("data folder %s: %w: stop that node or use another --data-dir", dir, ErrInUse)
	case errors.Is(err, bolt.ErrInvalid), errors.Is(err, bolt.ErrChecksum), errors.Is(err, bolt.ErrVersionMismatch),
		errors.Is(err, bolt.ErrInvalidMapping):
		return why(ErrDamaged)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return why(ErrFull)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.EISDIR), errors.Is(err, bolt.ErrDatabaseReadOnly):
		return why(ErrNoAccess)
	}
	return fmt.Errorf("data folder %s: %w", dir, err)
}

package blob

import (
	"container/list"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Errors of storing and reading blobs.
var (
	ErrNotFound = errors.New("no such blob here")
	ErrTooLarge = errors.New("too large")
	ErrContent  = errors.New("wrong content") // not the bytes that the name or size promised
	ErrFull     = errors.New("the blob folder is full")
	ErrDisk     = errors.New("the disk is full")
)

// Store is a folder of blobs. Its methods are safe for concurrent use.
type Store struct {
	dir        string
	max        grid.Bytes
	floor      grid.Bytes
	damaged    func(Damage)
	quarantine quarantine

	mu        sync.Mutex
	blobs     map[grid.BlobID]*entry
	pins      map[grid.BlobID]int         // of blobs that are stored or yet to come
	holds     map[grid.BlobID]*time.Timer // each removes a pin when it fires
	evictable *list.List                  // of *entry, not pinned, most recently used first

	checks map[*entry]*check // under way

	size          grid.Bytes
	evictableSize grid.Bytes // of the blobs in evictable
}

// entry is a stored blob.
type entry struct {
	id      grid.BlobID
	size    grid.Bytes
	seen    stamp         // of the file when this process hashed its content; zero: it has not
	hashed  time.Time     // time of that
	synced  bool          // the content is certainly on disk
	element *list.Element // in evictable; nil = pinned
}

// Open opens a folder of blobs of at most max bytes together, and creates it, for the owner alone, if it does not
// exist. Temporary files of a former run are removed. Only one process may use a folder.
func Open(dir string, max grid.Bytes) (*Store, error) {
	if max <= 0 {
		return nil, fmt.Errorf("blob folder %s: %d bytes: want more than 0", dir, max)
	}
	s := &Store{dir: dir, max: max, blobs: map[grid.BlobID]*entry{}, pins: map[grid.BlobID]int{},
		holds: map[grid.BlobID]*time.Timer{}, evictable: list.New(), checks: map[*entry]*check{}}
	s.quarantine.dir, s.quarantine.most = filepath.Join(dir, quarantineFolder), max/quarantineShare
	if err := os.RemoveAll(s.temp()); err != nil {
		return nil, fmt.Errorf("blob folder: %w", err)
	}
	if err := disk.MakeFolder(s.temp(), 0o700); err != nil {
		return nil, fmt.Errorf("blob folder: %w", err)
	}
	s.quarantine.trim(time.Now())
	return s, s.scan()
}

// KeepFree makes writes of blobs, and copies of them, fail with ErrDisk if they would leave less than n bytes free,
// which others need. Call it before the first use.
func (s *Store) KeepFree(n grid.Bytes) { s.floor = n }

// Close releases the folder. Open blobs stay readable.
func (s *Store) Close() error { return nil }

func (s *Store) temp() string { return filepath.Join(s.dir, "tmp") }

func (s *Store) path(id grid.BlobID) string {
	name := id.String()
	return filepath.Join(s.dir, name[:2], name[2:])
}

// scan adds the blobs of a former run, in the order of their last use.
func (s *Store) scan() error {
	type found struct {
		entry
		used time.Time
	}
	var all []found
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		id, err := grid.ParseBlobID(filepath.Base(filepath.Dir(path)) + d.Name())
		if err != nil {
			return nil // not ours
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all = append(all, found{entry{id: id, size: grid.Bytes(info.Size())}, info.ModTime()})
		return nil
	})
	if err != nil {
		return fmt.Errorf("blob folder: %w", err)
	}
	slices.SortFunc(all, func(a, b found) int { return a.used.Compare(b.used) })
	for i := range all {
		s.add(&all[i].entry)
	}
	return nil
}

// add adds an entry to the table; s.mu is held, or s is not shared yet.
func (s *Store) add(e *entry) {
	s.blobs[e.id] = e
	s.size += e.size
	if s.pins[e.id] == 0 {
		s.makeEvictable(e)
	}
}

// makeEvictable allows an entry to be evicted.
func (s *Store) makeEvictable(e *entry) {
	e.element = s.evictable.PushFront(e)
	s.evictableSize += e.size
}

// makeUnevictable keeps an entry from being evicted.
func (s *Store) makeUnevictable(e *entry) {
	if e.element != nil {
		s.evictable.Remove(e.element)
		s.evictableSize -= e.size
		e.element = nil
	}
}

// evict removes an entry and its file, if it is the one in the table.
func (s *Store) evict(e *entry) {
	if s.blobs[e.id] != e {
		return
	}
	os.Remove(s.path(e.id)) // if it stays, the next start adds it again and checks it
	s.removeEntry(e)
}

// removeEntry removes an entry from the table; its file is gone or another's by now.
func (s *Store) removeEntry(e *entry) {
	delete(s.blobs, e.id)
	s.size -= e.size
	s.makeUnevictable(e)
}

// Has reports whether a blob is stored. It does not read the content, nor count as a use.
func (s *Store) Has(id grid.BlobID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blobs[id] != nil
}

// Size returns the bytes of all blobs.
func (s *Store) Size() grid.Bytes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

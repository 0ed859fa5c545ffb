package blob

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skep/grid"
)

// Damage describes a blob whose file did not match its name. It is not stored any more.
type Damage struct {
	ID     grid.BlobID
	Size   grid.Bytes
	Needed bool // it is pinned
	Why    error
}

// OnDamage has f called with each damaged blob. Call it before the first use.
func (s *Store) OnDamage(f func(Damage)) { s.damaged = f }

// quarantineFolder is the folder of damaged files: a user without another copy may recover most of one from there.
const quarantineFolder = "damaged"

// Bounds of the quarantine.
const (
	quarantineShare = 16                  // the part of the bound of all blobs that it may take
	quarantineTime  = 30 * 24 * time.Hour // after it files are removed at the next damage or start
)

// quarantine is the folder of damaged files. It counts as used by blobs: evictable ones make room for it.
type quarantine struct {
	dir  string
	most grid.Bytes
	size atomic.Int64 // of the files in it

	mu sync.Mutex // held while files are moved and removed
}

// quarantineBlob removes an entry from the table, moves its file to the quarantine, reports the damage, and returns
// why. A blob that has replaced it stays.
func (s *Store) quarantineBlob(e *entry, why error) error {
	out := filepath.Join(s.temp(), "damaged-"+rand.Text())
	s.mu.Lock()
	here := s.blobs[e.id] == e
	needed := s.pins[e.id] > 0
	if here {
		if os.Rename(s.path(e.id), out) != nil {
			os.Remove(s.path(e.id)) // if it stays, the next start takes it in again and checks it
		}
		s.removeEntry(e)
	}
	s.mu.Unlock()
	if here {
		s.quarantine.add(out, e)
	}
	if here && s.damaged != nil {
		s.damaged(Damage{ID: e.id, Size: e.size, Needed: needed, Why: why})
	}
	return why
}

// add keeps a damaged file if there is room for it, in place of the oldest if need be.
func (a *quarantine) add(file string, e *entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	os.Mkdir(a.dir, 0o700)
	now := time.Now()
	os.Chtimes(file, now, now)
	if e.size > a.most || os.Rename(file, filepath.Join(a.dir, e.id.String())) != nil {
		os.Remove(file)
	}
	a.trim(now)
}

// trim removes files older than quarantineTime, and the oldest if there is too much.
func (a *quarantine) trim(now time.Time) {
	var files []os.FileInfo
	sum := grid.Bytes(0)
	all, _ := os.ReadDir(a.dir)
	for _, f := range all {
		if info, err := f.Info(); err == nil {
			files = append(files, info)
			sum += grid.Bytes(info.Size())
		}
	}
	slices.SortFunc(files, func(x, y os.FileInfo) int { return x.ModTime().Compare(y.ModTime()) })
	for _, f := range files {
		if sum <= a.most && now.Sub(f.ModTime()) <= quarantineTime {
			break
		}
		if os.RemoveAll(filepath.Join(a.dir, f.Name())) == nil {
			sum -= grid.Bytes(f.Size())
		}
	}
	a.size.Store(int64(sum))
}

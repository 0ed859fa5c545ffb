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

// Damage is a blob whose file was not what its name says. It is not here any more.
type Damage struct {
	ID     grid.BlobID
	Size   grid.Bytes
	Needed bool // somebody has pinned it
	Why    error
}

// OnDamage has f called with each. To be called before the first use.
func (s *Store) OnDamage(f func(Damage)) { s.damaged = f }

// quarantineFolder is the folder of files that are not what their names say: whoever has no other copy may find most of it there.
const quarantineFolder = "damaged"

// Bounds of it.
const (
	quarantineShare = 16                  // the part of the bound of all blobs that they may have together
	quarantineTime  = 30 * 24 * time.Hour // they go at the next damage or start then
)

// quarantine is that folder. It counts as used by blobs: those that nobody needs give way to it.
type quarantine struct {
	dir  string
	most grid.Bytes
	size atomic.Int64 // of the files in it

	mu sync.Mutex // held while files are moved and removed
}

// quarantineBlob takes an entry out of the table, puts its file aside, tells of it, and returns why. What has come in its
// place stays.
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

// add keeps a damaged file if there is room for it, where need be in the place of those that are there longest.
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

// trim removes what is there for too long, and the oldest where there is too much.
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

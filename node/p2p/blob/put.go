package blob

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"skep/grid"
	"skep/node/p2p/disk"
)

// Put stores what r holds, at most limit bytes, and returns its name and size. Durable means that it is on disk
// when Put returns, as what cannot be fetched again must be: the inputs and results of own jobs. Other blobs may be
// missing after a crash. Errors wrap ErrTooLarge, ErrFull, ErrDisk, or are r's or ctx's; then nothing is stored. A
// Read that hangs is not interrupted: give r a deadline.
func (s *Store) Put(ctx context.Context, r io.Reader, limit grid.Bytes, durable bool) (grid.BlobID, grid.Bytes, error) {
	t, err := s.receive(ctx, r, limit, durable)
	if err == nil {
		defer t.remove()
		err = s.commit(t, durable)
	}
	if err != nil {
		return grid.BlobID{}, 0, fmt.Errorf("put blob: %w", err)
	}
	return t.id, t.size, nil
}

// PutExpected stores what r holds if it is the blob id of that size; if that is stored already, nothing is read.
// Errors are those of Put, and ErrContent.
func (s *Store) PutExpected(ctx context.Context, id grid.BlobID, size grid.Bytes, r io.Reader, durable bool) error {
	err := s.putExpected(ctx, id, size, r, durable)
	if err != nil {
		return fmt.Errorf("put blob %s: %w", id, err)
	}
	return nil
}

func (s *Store) putExpected(ctx context.Context, id grid.BlobID, size grid.Bytes, r io.Reader, durable bool) error {
	if e, err := s.use(ctx, id, verifiedFor); err == nil {
		if e.size != size {
			return fmt.Errorf("%w: has %d bytes, not %d", ErrContent, e.size, size)
		}
		return s.sync(e, durable)
	}
	if size < 0 || size > s.max {
		return fmt.Errorf("%w: %d bytes, the folder holds at most %d", ErrTooLarge, size, s.max)
	}
	t, err := s.receive(ctx, r, size, durable)
	if err != nil {
		return err
	}
	defer t.remove()
	if t.size != size {
		return fmt.Errorf("%w: ends after %d of %d bytes", ErrContent, t.size, size)
	}
	if t.id != id {
		return fmt.Errorf("%w: what came is %s", ErrContent, t.id)
	}
	return s.commit(t, durable)
}

// temporary is a file that has no name as a blob yet.
type temporary struct {
	path string
	id   grid.BlobID
	size grid.Bytes
}

// remove removes the file, unless it was renamed.
func (t *temporary) remove() { os.Remove(t.path) }

var buffers = sync.Pool{New: func() any { return new([128 << 10]byte) }}

// receive streams r through the hash into a temporary file.
func (s *Store) receive(ctx context.Context, r io.Reader, limit grid.Bytes, durable bool) (*temporary, error) {
	f, err := os.CreateTemp(s.temp(), "put-")
	if err != nil {
		return nil, diskFull(err)
	}
	t := &temporary{path: f.Name()}
	err = t.fill(ctx, f, r, min(limit, s.max), func() error { return s.checkFree(s.dir, checkFreeEvery) })
	if err == nil && durable {
		err = f.Sync()
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		t.remove()
		return nil, diskFull(err)
	}
	return t, nil
}

// checkFreeEvery is how much is written between two checks of the free space.
const checkFreeEvery = 4 * grid.MiB

func (t *temporary) fill(ctx context.Context, f *os.File, r io.Reader, limit grid.Bytes, checkFree func() error) error {
	hash := sha256.New()
	looked := -checkFreeEvery
	buf := buffers.Get().(*[128 << 10]byte)
	defer buffers.Put(buf)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf[:])
		if t.size += grid.Bytes(n); t.size > limit {
			return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
		}
		if t.size-looked >= checkFreeEvery {
			if err := checkFree(); err != nil {
				return err
			}
			looked = t.size
		}
		hash.Write(buf[:n])
		if _, err := f.Write(buf[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			hash.Sum(t.id[:0])
			return f.Chmod(0o400)
		}
		if err != nil {
			return err
		}
	}
}

// commit renames a temporary file, or uses the blob that is stored already. A file that must be replaced, because
// it may not be on disk or has changed, is replaced atomically: a concurrent open gets one of the two.
func (s *Store) commit(t *temporary, durable bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.blobs[t.id]
	if old != nil && s.trusted(old, verifiedFor) && (old.synced || !durable) {
		s.touch(old)
		return nil
	}
	if old != nil && old.size != t.size {
		s.evict(old)
		old = nil
	}
	if old != nil && !durable && (old.synced || old.seen == (stamp{})) { // a former run may have stored it as durable
		if err := disk.Sync(t.path); err != nil {
			return diskFull(err)
		}
		durable = true
	}
	if old == nil {
		if err := s.makeRoom(t.size); err != nil {
			return err
		}
	}
	path := s.path(t.id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return diskFull(err)
	}
	if err := os.Rename(t.path, path); err != nil {
		return diskFull(err)
	}
	if old != nil {
		s.removeEntry(old)
	}
	e := &entry{id: t.id, size: t.size, hashed: time.Now()}
	e.seen, _ = stampOf(path)
	s.add(e)
	if !durable {
		return nil
	}
	if err := s.syncNames(e); err != nil {
		s.evict(e)
		return err
	}
	return nil
}

// syncNames syncs a blob's name, and its folder's, which may be new.
func (s *Store) syncNames(e *entry) error {
	if err := disk.Sync(filepath.Dir(s.path(e.id))); err != nil {
		return diskFull(err)
	}
	if err := disk.Sync(s.dir); err != nil {
		return diskFull(err)
	}
	e.synced = true
	return nil
}

// sync syncs a stored blob, if durable and not done before.
func (s *Store) sync(e *entry, durable bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !durable || e.synced {
		return nil
	}
	if err := disk.Sync(s.path(e.id)); err != nil {
		return diskFull(err)
	}
	return s.syncNames(e)
}

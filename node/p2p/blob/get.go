package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"skep/grid"
)

// Open opens a blob for reading and returns its size; the caller closes it. A blob that is missing or turns out to
// be damaged, which removes it, is ErrNotFound. The first use after a start reads the whole blob, once for all
// concurrent callers; Open returns early when ctx ends.
func (s *Store) Open(ctx context.Context, id grid.BlobID) (*Reader, grid.Bytes, error) {
	f, e, err := s.open(ctx, id, everVerified)
	if err != nil {
		return nil, 0, fmt.Errorf("blob %s: %w", id, err)
	}
	return &Reader{s: s, e: e, f: f, hash: sha256.New(), left: int64(e.size)}, e.size, nil
}

// OpenWhole opens a blob after it has read and verified all of it, for callers that do not read it once from
// beginning to end. Its errors are those of Open.
func (s *Store) OpenWhole(ctx context.Context, id grid.BlobID) (*os.File, grid.Bytes, error) {
	f, e, err := s.open(ctx, id, everVerified)
	if err == nil {
		if err = s.verifyFile(ctx, e, f); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			f.Close()
			err = notFound(err)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("blob %s: %w", id, err)
	}
	return f, e.size, nil
}

// open uses a blob and opens its file.
func (s *Store) open(ctx context.Context, id grid.BlobID, within time.Duration) (*os.File, *entry, error) {
	e, err := s.use(ctx, id, within)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(s.path(id))
	if err != nil { // evicted since
		return nil, nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return f, e, nil
}

// Link makes dst, which must not exist, a copy of the blob that its owner may read, write and, with exec, execute.
// If the file system supports it, the copy shares the blob's disk space until it is changed. The blob is not hashed
// again while its file is unchanged since it was hashed, at most an hour ago: many tasks get the same program.
func (s *Store) Link(ctx context.Context, id grid.BlobID, dst string, exec bool) error {
	src, e, err := s.open(ctx, id, verifiedFor)
	if err != nil {
		return fmt.Errorf("blob %s: %w", id, err)
	}
	defer src.Close()
	mode := os.FileMode(0o600)
	if exec {
		mode = 0o700
		// A process started while a program is open for writing inherits the descriptor until its own exec, and
		// meanwhile the program cannot be executed ("text file busy"): block starts for the moment.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("blob %s: %w", id, diskFull(err))
	}
	err = s.copyFile(out, src, e.size)
	if err2 := out.Close(); err == nil {
		err = err2
	}
	if err != nil {
		os.Remove(dst)
		return fmt.Errorf("blob %s to %s: %w", id, dst, diskFull(err))
	}
	return nil
}

// copyFile shares the extents if the file system can; else the kernel copies (io.Copy of two files does).
func (s *Store) copyFile(dst, src *os.File, size grid.Bytes) error {
	if clone(dst, src) {
		return nil
	}
	if err := s.checkFree(filepath.Dir(dst.Name()), size); err != nil {
		return err
	}
	n, err := io.Copy(dst, src)
	if err == nil && grid.Bytes(n) != size {
		return fmt.Errorf("%w: %d of %d bytes", ErrContent, n, size)
	}
	return err
}

// use finds a blob, verifies its content unless that was done within a time, and counts the use.
func (s *Store) use(ctx context.Context, id grid.BlobID, within time.Duration) (*entry, error) {
	s.mu.Lock()
	e := s.blobs[id]
	checked := e != nil && s.trusted(e, within)
	if checked {
		s.touch(e)
	}
	s.mu.Unlock()
	if e == nil {
		return nil, ErrNotFound
	}
	if !checked {
		if err := s.hashOnce(ctx, e); err != nil {
			return nil, notFound(err)
		}
	}
	return e, nil
}

// notFound turns the error of a damaged blob into ErrNotFound.
func notFound(err error) error {
	if errors.Is(err, ErrContent) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// touch makes an entry the most recently used, in the table and for the next start; s.mu is held. Its file is the
// one that was hashed.
func (s *Store) touch(e *entry) {
	if e.element != nil {
		s.evictable.MoveToFront(e.element)
	}
	now := time.Now()
	os.Chtimes(s.path(e.id), now, now) // only the order of eviction depends on it
	e.seen, _ = stampOf(s.path(e.id))
}

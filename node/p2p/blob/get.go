package blob

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"skep/grid"
)

// Open opens a blob for reading and returns its size; the caller closes it. A blob that is missing or that
// was damaged on disk, which costs it its place here, is ErrNotFound. The first use after a start reads
// the blob whole.
func (s *Store) Open(id grid.BlobID) (*os.File, grid.Bytes, error) {
	e, err := s.use(context.Background(), id)
	if err != nil {
		return nil, 0, fmt.Errorf("blob %s: %w", id, err)
	}
	f, err := os.Open(s.path(id))
	if err != nil { // collected since
		return nil, 0, fmt.Errorf("blob %s: %w: %w", id, ErrNotFound, err)
	}
	return f, e.size, nil
}

// Verify reads a blob whole; if its content is wrong it is dropped and the error wraps ErrContent.
func (s *Store) Verify(ctx context.Context, id grid.BlobID) error {
	s.mu.Lock()
	e := s.blobs[id]
	s.mu.Unlock()
	err := ErrNotFound
	if e != nil {
		err = s.verify(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", id, err)
	}
	return nil
}

// Link makes dst, which must not exist, a copy of the blob that its owner may read, write and, with exec,
// execute. Where the file system can, the copy shares the blob's disk space until it is changed.
func (s *Store) Link(id grid.BlobID, dst string, exec bool) error {
	src, size, err := s.Open(id)
	if err != nil {
		return err
	}
	defer src.Close()
	mode := os.FileMode(0o600)
	if exec {
		mode = 0o700
		// A process started while a program is open for writing inherits that until its own exec, and the
		// program cannot be executed so long ("text file busy"): hold starts off for the moment.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("blob %s: %w", id, full(err))
	}
	err = s.copyFile(out, src, size)
	if err2 := out.Close(); err == nil {
		err = err2
	}
	if err != nil {
		os.Remove(dst)
		return fmt.Errorf("blob %s to %s: %w", id, dst, full(err))
	}
	return nil
}

// copyFile shares the extents if the file system can; else the kernel copies (io.Copy of two files does).
func (s *Store) copyFile(dst, src *os.File, size grid.Bytes) error {
	if clone(dst, src) {
		return nil
	}
	if err := s.spare(filepath.Dir(dst.Name()), size); err != nil {
		return err
	}
	n, err := io.Copy(dst, src)
	if err == nil && grid.Bytes(n) != size {
		return fmt.Errorf("%w: %d of %d bytes", ErrContent, n, size)
	}
	return err
}

// use finds a blob, makes sure of its content, and counts the use.
func (s *Store) use(ctx context.Context, id grid.BlobID) (*entry, error) {
	s.mu.Lock()
	e := s.blobs[id]
	if e != nil && !s.intact(e) {
		s.drop(e)
		e = nil
	}
	checked := e != nil && e.checked
	if checked {
		s.touch(e)
	}
	s.mu.Unlock()
	if e == nil {
		return nil, ErrNotFound
	}
	if !checked {
		if err := s.verify(ctx, e); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
		}
	}
	return e, nil
}

// touch makes an entry the one used last, in the table and for the next start; s.mu is held.
func (s *Store) touch(e *entry) {
	if e.place != nil {
		s.idle.MoveToFront(e.place)
	}
	now := time.Now()
	os.Chtimes(s.path(e.id), now, now) // only the order of collection rests on it
}

// intact reports whether the file is there with its size.
func (s *Store) intact(e *entry) bool {
	info, err := os.Lstat(s.path(e.id))
	return err == nil && info.Mode().IsRegular() && grid.Bytes(info.Size()) == e.size
}

// verify hashes the file, outside the lock, and drops the entry if it is not what its name says.
func (s *Store) verify(ctx context.Context, e *entry) error {
	got, err := hashFile(ctx, s.path(e.id))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.drop(e)
		return fmt.Errorf("%w: %w", ErrContent, err)
	case got != e.id:
		s.drop(e)
		return fmt.Errorf("%w: the file has become %s", ErrContent, got)
	}
	e.checked = true
	return nil
}

func hashFile(ctx context.Context, path string) (id grid.BlobID, err error) {
	f, err := os.Open(path)
	if err != nil {
		return id, err
	}
	defer f.Close()
	hash := sha256.New()
	buf := buffers.Get().(*[128 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := f.Read(buf[:])
		hash.Write(buf[:n])
		if err == io.EOF {
			hash.Sum(id[:0])
			return id, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return id, err
		}
	}
}

package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
	"time"

	"skep/grid"
)

// verifiedFor is how long a file that looks unchanged is trusted to hold the hashed content, by callers that do not
// hash it. A disk may change data silently.
const verifiedFor = time.Hour

// everVerified is for callers that hash what they read.
const everVerified = time.Duration(math.MaxInt64)

// stamp tells whether a file was written to since: a write changes its times, and setting back the time of its
// status takes control of the whole machine.
type stamp struct {
	inode, size     int64
	written, status time.Time
}

// stampOf returns the stamp of a file; the zero stamp is of none.
func stampOf(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampOfInfo(info), nil
}

func stampOfInfo(info os.FileInfo) stamp {
	if !info.Mode().IsRegular() {
		return stamp{}
	}
	st := stamp{size: info.Size(), written: info.ModTime()}
	st.inode, st.status = statusOf(info)
	return st
}

// trusted reports whether an entry's file was hashed within a time and is unchanged since; s.mu is held.
func (s *Store) trusted(e *entry, within time.Duration) bool {
	if e.seen == (stamp{}) || time.Since(e.hashed) > within {
		return false
	}
	now, err := stampOf(s.path(e.id))
	return err == nil && now == e.seen
}

// verify hashes the file of an entry, outside the lock, and moves it to the quarantine if it does not match its
// name.
func (s *Store) verify(ctx context.Context, e *entry) error {
	f, err := os.Open(s.path(e.id))
	if errors.Is(err, fs.ErrNotExist) {
		return s.quarantineBlob(e, fmt.Errorf("%w: %w", ErrContent, err))
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return s.verifyFile(ctx, e, f)
}

// verifyFile does so with a file that is open at its beginning. A read error that is not the disk's says nothing
// about the content.
func (s *Store) verifyFile(ctx context.Context, e *entry, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if grid.Bytes(info.Size()) != e.size {
		return s.quarantineBlob(e, fmt.Errorf("%w: the file has %d bytes, not %d", ErrContent, info.Size(), e.size))
	}
	got, err := hashOf(ctx, f)
	switch {
	case errors.Is(err, syscall.EIO):
		return s.quarantineBlob(e, fmt.Errorf("%w: %w", ErrContent, err))
	case err != nil:
		return err
	case got != e.id:
		return s.quarantineBlob(e, fmt.Errorf("%w: the file has become %s", ErrContent, got))
	}
	s.mu.Lock()
	e.seen, e.hashed = stampOfInfo(info), time.Now()
	s.mu.Unlock()
	return nil
}

func hashOf(ctx context.Context, f *os.File) (id grid.BlobID, err error) {
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

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

// verifiedFor is how long a file that looks unchanged is taken to hold what was hashed, by whoever does not hash it
// himself. A disk can change what it keeps without a word.
const verifiedFor = time.Hour

// everVerified is for those who hash what they read.
const everVerified = time.Duration(math.MaxInt64)

// stamp tells whether a file was written to since it was looked at: whoever writes moves its times, and only with
// rights over the whole machine could move back that of its status.
type stamp struct {
	inode, size     int64
	written, status time.Time
}

// stampOf looks at a file; the zero stamp is of none.
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

// trusted reports whether an entry's file was hashed within a time and is as it was then; s.mu is held.
func (s *Store) trusted(e *entry, within time.Duration) bool {
	if e.seen == (stamp{}) || time.Since(e.hashed) > within {
		return false
	}
	now, err := stampOf(s.path(e.id))
	return err == nil && now == e.seen
}

// verify hashes the file of an entry, outside the lock, and sets it aside if it is not what its name says.
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

// verifyFile does so with a file that is open at its beginning. That the file cannot be read for other reasons than the
// disk's says nothing of its content.
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

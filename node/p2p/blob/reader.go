package blob

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"

	"skep/grid"
)

// Reader reads a blob once, from beginning to end. Its last bytes are returned only if the whole content matches
// its name: otherwise that read fails with ErrContent, and the blob is moved to the quarantine.
type Reader struct {
	s    *Store
	e    *entry
	f    *os.File
	hash hash.Hash // nil: it did not start at the beginning
	left int64
}

// Read reads on.
func (r *Reader) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.f.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	if r.hash != nil {
		r.hash.Write(b[:n])
	}
	switch {
	case errors.Is(err, io.EOF) && n == 0:
		return 0, r.s.quarantineBlob(r.e, fmt.Errorf("%w: the file ends %d bytes too soon", ErrContent, r.left))
	case errors.Is(err, syscall.EIO):
		return 0, r.s.quarantineBlob(r.e, fmt.Errorf("%w: %w", ErrContent, err))
	case r.left > 0 || r.hash == nil:
		return n, err
	}
	if got := grid.BlobID(r.hash.Sum(nil)); got != r.e.id {
		return 0, r.s.quarantineBlob(r.e, fmt.Errorf("%w: the file has become %s", ErrContent, got))
	}
	return n, err
}

// Resume continues from an offset. The rest is not hashed, since its beginning is not read: it is for a peer that
// has the beginning and hashes the whole.
func (r *Reader) Resume(offset grid.Bytes) error {
	if offset == 0 {
		return nil
	}
	r.hash, r.left = nil, int64(r.e.size-offset)
	_, err := r.f.Seek(int64(offset), io.SeekStart)
	return err
}

// Close closes the blob.
func (r *Reader) Close() error { return r.f.Close() }

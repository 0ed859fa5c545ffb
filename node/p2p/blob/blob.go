// Package blob keeps content-addressed files on disk.
package blob

import (
	"context"
	"errors"
	"io"
	"os"

	"skep/grid"
)

// Store is a folder of blobs.
type Store struct{}

// Open opens a folder of blobs of at most max bytes together, and makes it if there is none.
func Open(dir string, max grid.Bytes) (*Store, error) { return nil, errors.ErrUnsupported }

// Put keeps what r holds, at most limit bytes.
func (s *Store) Put(ctx context.Context, r io.Reader, limit grid.Bytes, durable bool) (grid.BlobID, grid.Bytes, error) {
	return grid.BlobID{}, 0, errors.ErrUnsupported
}

// PutExpected keeps what r holds if it is the blob id of that size.
func (s *Store) PutExpected(ctx context.Context, id grid.BlobID, size grid.Bytes, r io.Reader, durable bool) error {
	return errors.ErrUnsupported
}

// PutFile keeps a copy of a file.
func (s *Store) PutFile(ctx context.Context, path string, limit grid.Bytes, durable bool) (grid.BlobID, grid.Bytes, error) {
	return grid.BlobID{}, 0, errors.ErrUnsupported
}

// Has reports whether the blob is here.
func (s *Store) Has(id grid.BlobID) bool { return false }

// Open opens a blob for reading; the caller closes it.
func (s *Store) Open(id grid.BlobID) (*os.File, grid.Bytes, error) {
	return nil, 0, errors.ErrUnsupported
}

// Verify reads a blob whole and drops it if its content is wrong.
func (s *Store) Verify(ctx context.Context, id grid.BlobID) error { return errors.ErrUnsupported }

// Link makes dst a copy of the blob that its owner may change.
func (s *Store) Link(id grid.BlobID, dst string, exec bool) error { return errors.ErrUnsupported }

// Pin keeps a blob, here or yet to come, from being collected until as many Unpins.
func (s *Store) Pin(id grid.BlobID) {}

// Unpin takes a Pin back.
func (s *Store) Unpin(id grid.BlobID) {}

// Size returns the bytes of all blobs.
func (s *Store) Size() grid.Bytes { return 0 }

// Len returns the number of blobs.
func (s *Store) Len() int { return 0 }

// Close waits for nothing and gives the folder free.
func (s *Store) Close() error { return nil }

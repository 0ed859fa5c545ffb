package blob

import (
	"errors"
	"fmt"
	"syscall"

	"skep/grid"
	"skep/node/p2p/disk"
)

// makeRoom evicts the least recently used blobs until n more bytes fit beside the quarantine, and none if they
// never will; s.mu is held. If all that is left is pinned, the quarantine does not count.
func (s *Store) makeRoom(n grid.Bytes) error {
	if n > s.max {
		return fmt.Errorf("%w: %d bytes, the folder holds at most %d", ErrTooLarge, n, s.max)
	}
	if held := s.size - s.evictableSize; held+n > s.max {
		return fmt.Errorf("%w: %d of %d bytes are in use, %d more do not fit", ErrFull, held, s.max, n)
	}
	for s.evictable.Len() > 0 && s.size+n+grid.Bytes(s.quarantine.size.Load()) > s.max {
		s.evict(s.evictable.Back().Value.(*entry))
	}
	return nil
}

// checkFree returns an error if n more bytes must not be written in a folder.
func (s *Store) checkFree(dir string, n grid.Bytes) error {
	if s.floor == 0 {
		return nil
	}
	if free, err := disk.Free(dir); err == nil && free-n < s.floor {
		return fmt.Errorf("%w: %d bytes are free, and %d are kept for the node's records", ErrDisk, free, s.floor)
	}
	return nil
}

// diskFull marks the error of a full disk.
func diskFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return err
}

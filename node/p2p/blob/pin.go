package blob

import (
	"time"

	"skep/grid"
)

// Pin keeps a blob, stored or yet to come, from being evicted until as many Unpins. Pins are not on disk: after a
// start, blobs in use must be pinned before the first Put, which may evict.
func (s *Store) Pin(id grid.BlobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pin(id)
}

func (s *Store) pin(id grid.BlobID) {
	s.pins[id]++
	if e := s.blobs[id]; e != nil {
		s.makeUnevictable(e)
	}
}

// Unpin removes a Pin; without one it panics.
func (s *Store) Unpin(id grid.BlobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unpin(id)
}

func (s *Store) unpin(id grid.BlobID) {
	n := s.pins[id]
	if n == 0 {
		panic("blob: " + id.String() + " is unpinned more often than pinned")
	}
	if s.pins[id] = n - 1; n > 1 {
		return
	}
	delete(s.pins, id)
	if e := s.blobs[id]; e != nil {
		s.makeEvictable(e)
	}
}

// Hold keeps a stored blob from being evicted for a time, which a further Hold extends, and reports whether it is
// stored. It is for blobs to which nothing refers yet, because their sender has not finished.
func (s *Store) Hold(id grid.BlobID, d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs[id] == nil {
		return false
	}
	if t := s.holds[id]; t != nil && t.Stop() {
		t.Reset(d)
		return true
	}
	s.pin(id)
	var own *time.Timer
	own = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.holds[id] == own {
			delete(s.holds, id)
		}
		s.unpin(id)
	})
	s.holds[id] = own
	return true
}

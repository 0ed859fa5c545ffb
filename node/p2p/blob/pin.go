package blob

import (
	"time"

	"skep/grid"
)

// Pin keeps a blob, here or yet to come, from being collected until as many Unpins. Pins are not on disk:
// after a start, whoever needs blobs pins them before the first Put, which may collect.
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

// Unpin takes a Pin back; without one it panics.
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

// Hold keeps a blob that is here from being collected for a time, or for as much longer if it is held already, and reports whether
// it is here. It is for what nobody refers to yet, since whoever handed it over has more to say first.
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

package discovery

import (
	"skep/fifo"
	"skep/grid"
)

// seen is the searches that passed here, for a time and up to a number.
type seen struct{ fifo.Map[seenKey, passed] }

type seenKey struct{ id, asker uint64 }

// passed is when a search came first, and who brought it.
type passed struct {
	from uint64
	at   grid.Time
}

func keyOf(f *grid.Find) seenKey { return seenKey{f.ID, head(f.Asker)} }

// add records a search and, if it was recorded already, reports who brought it first.
func (s *seen) add(now grid.Time, c *Config, f *grid.Find, from grid.NodeID) (uint64, bool) {
	for s.Len() > 0 {
		if _, oldest := s.Oldest(); now.Sub(oldest.at) < seenTime && s.Len() < c.SeenMax {
			break
		}
		s.RemoveOldest()
	}
	k := keyOf(f)
	if first := s.Get(k); first != nil {
		return first.from, true
	}
	s.Add(k, passed{head(from), now})
	return 0, false
}

// has reports whether a search passed here.
func (s *seen) has(f *grid.Find) bool { return s.Get(keyOf(f)) != nil }

package discovery

import (
	"skep/grid"
)

// seen is the searches that passed here, for a time and up to a number. The map is only used for lookups.
type seen struct {
	from  map[seenKey]uint64 // who brought it first
	queue []seenAt           // oldest first, from first on
	first int
}

type seenKey struct{ id, asker uint64 }

type seenAt struct {
	key seenKey
	at  grid.Time
}

// add records a search and, if it was recorded already, reports who brought it first.
func (s *seen) add(now grid.Time, c *Config, f *grid.Find, from grid.NodeID) (uint64, bool) {
	for s.first < len(s.queue) && (now.Sub(s.queue[s.first].at) >= c.Seen || len(s.queue)-s.first >= c.SeenMax) {
		delete(s.from, s.queue[s.first].key)
		s.first++
	}
	if s.first > 32 && s.first > len(s.queue)/2 {
		s.queue = s.queue[:copy(s.queue, s.queue[s.first:])]
		s.first = 0
	}
	k := seenKey{f.ID, head(f.Asker)}
	if first, ok := s.from[k]; ok {
		return first, true
	}
	if s.from == nil {
		s.from = make(map[seenKey]uint64)
	}
	s.from[k] = head(from)
	s.queue = append(s.queue, seenAt{k, now})
	return 0, false
}

// has reports whether a search passed here.
func (s *seen) has(f *grid.Find) bool {
	_, ok := s.from[seenKey{f.ID, head(f.Asker)}]
	return ok
}

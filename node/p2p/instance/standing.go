package instance

import (
	"time"

	"skep/grid"
)

// Standing is what a process is to its network. It only grows.
type Standing uint8

// Standings of a process.
const (
	Starting Standing = iota // it has done nothing as the node yet
	Alone                    // it is the node, and no peer has answered yet that it knows no other one
	Joined                   // a peer has
)

// tie is the difference of two ages below which the numbers of the instances decide. Each of the two compares its own
// age with one that was signed before, by findTime at most, so it takes the other for younger than it is by less.
const tie = 2 * findTime

// standing is what this process is to its network, and since when. An instance that is to stop keeps its standing: what
// it signs afterwards must lead the other one to the opposite conclusion.
type standing struct {
	is      Standing
	since   grid.Time // the node's clock when it became that
	known   bool      // a peer has answered that it knows no other instance
	yielded bool      // it is to stop
}

// begin makes the process the node; false if it is to stop.
func (s *standing) begin(now grid.Time) bool {
	if s.yielded {
		return false
	}
	s.is, s.since = Alone, now
	if s.known {
		s.is = Joined
	}
	return true
}

// join notes that a peer knows no other instance.
func (s *standing) join(now grid.Time) {
	if s.known || s.yielded {
		return
	}
	s.known = true
	if s.is == Alone {
		s.is, s.since = Joined, now
	}
}

// age returns for how long it has been what it is; 0 for one that starts.
func (s *standing) age(now grid.Time) time.Duration {
	if s.is == Starting {
		return 0
	}
	return max(now.Sub(s.since), 0)
}

// yields reports whether instance own is to stop for the one that made a statement: it has the lower standing, or the
// same for a shorter time. Of two that are no older than each other by a tie the one with the larger number stops.
//
// Two that exchange statements never both stop, since ages grow alike and a statement's is too small rather than too
// large. Both may go on if a standing grew meanwhile, or if their ages differ by a tie almost exactly: until the next
// exchange.
func (s *standing) yields(now grid.Time, own uint64, other *Statement) bool {
	if s.yielded {
		return true
	}
	older := s.age(now) - other.Age
	switch {
	case s.is != other.Standing:
		s.yielded = s.is < other.Standing
	case s.is == Joined && max(older, -older) > tie:
		s.yielded = older < 0
	default:
		s.yielded = own > other.Instance
	}
	return s.yielded
}

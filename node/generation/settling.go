package generation

import (
	"time"

	"skep/grid"
)

// Times for which a node that starts waits for peers before it acts on what it alone keeps.
const (
	Patience = 10 * time.Second // for the first one
	Grace    = time.Second      // after the first one, for others
)

// Settling is the time after a start in which the peers of a node may still tell that its data folder was put back.
// Until it is over the node places and starts nothing of the jobs that it had before, and that it alone keeps: of
// others the members of their registers, and the owners of attempts, have told when they first speak with it.
// Invariant: it is over for good once it is over.
type Settling struct {
	known   int // nodes that may tell
	met     int
	start   grid.Time
	until   grid.Time
	settled bool
}

// Begin begins it, for a node that has started so many times and knows so many others. A node that starts for the
// first time has nothing that it could do twice, and one that knows nobody can ask nobody.
func (s *Settling) Begin(now grid.Time, boot uint64, known int) {
	*s = Settling{known: known, start: now, until: now.Add(Patience), settled: boot <= 1 || known == 0}
}

// Met notes that a peer has told what it knows: nothing, or the node would have stopped. It reports whether that ends
// the wait.
func (s *Settling) Met(now grid.Time) (ends bool) {
	if s.settled {
		return false
	}
	if s.met++; s.met == 1 {
		s.until = min(s.until, now.Add(Grace))
	}
	return s.Over(now)
}

// Over reports whether the wait ends now.
func (s *Settling) Over(now grid.Time) (ends bool) {
	if s.settled || now < s.until && s.met < s.known {
		return false
	}
	s.settled = true
	return true
}

// Settled reports whether the wait is over.
func (s *Settling) Settled() bool { return s.settled }

// Until is when it is over at the latest.
func (s *Settling) Until() grid.Time { return s.until }

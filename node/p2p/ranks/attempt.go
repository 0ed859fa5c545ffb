package ranks

import "skep/grid"

// attempt is what is here of one. Its network ends when no rank is left, its user is given back when no folder is.
type attempt struct {
	places  []grid.RankPlace
	ready   chan struct{} // closed when shared or err is set
	shared  *Shared
	err     error
	ranks   map[uint32]*rank // those here that are not over
	folders map[uint32]bool  // of ranks here
	left    bool             // something may be left of a rank
	ended   chan struct{}    // closed when the network has ended; nil = nobody ends it yet
}

// rank is one that is here. It is over when it is dropped and does not run.
type rank struct{ began, runs, dropped bool }

// ran reports whether all ranks here have begun and ended. One that came too late may start again.
func (x *attempt) ran() bool {
	for _, r := range x.ranks {
		if r.runs || !r.began {
			return false
		}
	}
	return true
}

// rest tells what they share whether they have.
func (x *attempt) rest() {
	if x.shared != nil {
		x.shared.rest(x.ran())
	}
}

package replication

import "skep/grid"

// heard is what a replica that was restored has heard of the other members since the start. Each tells, when it
// connects, whether it knows of more than this node's data folder (package generation); this node stops then.
type heard struct {
	restored bool  // the register was here before this start, or may have been
	members  uint8 // bit set of those that have connected, or written
}

// StartSettling begins the time in which any peer may tell, before this node acts on what it alone keeps. The driver
// tells of no peer before that has told: a peer that is up is an answer.
// known is how many other nodes this one knew when it started.
func (s *Replicas) StartSettling(now grid.Time, known int, fx *grid.Effects) {
	if s.settling.Begin(now, s.cfg.Boot, known); !s.settling.Settled() {
		fx.Wake(s.settling.Until(), grid.TimerSettle, 0)
	}
}

// HasTold notes that a peer has, and reports whether that ends the time.
func (s *Replicas) HasTold(now grid.Time, id grid.NodeID, fx *grid.Effects) (ends bool) {
	for _, r := range s.With(id) {
		r.hear(id)
	}
	if ends = s.settling.Met(now); !s.settling.Settled() {
		fx.Wake(s.settling.Until(), grid.TimerSettle, 0)
	}
	return ends
}

// Settle reports whether the time is over now.
func (s *Replicas) Settle(now grid.Time) bool { return s.settling.Over(now) }

// hear notes that a node has told, if it is a member.
func (r *Replica) hear(id grid.NodeID) {
	if place := r.Place(id); place >= 0 {
		r.heard.members |= 1 << place
	}
}

// mayPromise reports whether this member may accept writes and vote. What it has forgotten, where its data folder was
// put back, a majority of the members may have heard: one of them, with this member, must have told otherwise.
func (r *Replica) mayPromise() bool {
	return !r.heard.restored || r.decides(r.heard.members)
}

// mayActAlone reports whether the only member may act: not before those that could tell had time to.
func (r *Replica) mayActAlone() bool { return !r.heard.restored || r.of.settling.Settled() }

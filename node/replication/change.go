package replication

import "skep/grid"

func (s *Replicas) changed(k grid.RegisterChangeKind, r *Replica) {
	s.changes = append(s.changes, grid.RegisterChange{Kind: k, Job: r.id})
}

// NextChange returns the oldest change that it has not returned yet, and reports whether there is one.
func (s *Replicas) NextChange() (c grid.RegisterChange, ok bool) {
	if s.applied == len(s.changes) {
		return c, false
	}
	c = s.changes[s.applied]
	if s.applied++; s.applied == len(s.changes) {
		clear(s.changes)
		s.changes, s.applied = s.changes[:0], 0
	}
	return c, true
}

package replication

import "skep/grid"

func (s *Replicas) changed(k grid.RegisterChangeKind, r *Replica) {
	s.changes.Add(grid.RegisterChange{Kind: k, Job: r.id})
}

// NextChange returns the oldest change that it has not returned yet, and reports whether there is one.
func (s *Replicas) NextChange() (c grid.RegisterChange, found bool) {
	return s.changes.Take()
}

package replication

// ChangeKind is what has changed about a register.
type ChangeKind uint8

// Changes of a register. What they are about is on disk with the step, or is saved by whoever applies the change.
const (
	Lost    ChangeKind = iota // this node is not the owner any more: others may have overruled all that it decided
	Written                   // the owner has written an entry
	Merged                    // any entry may be another one: a majority voted for this node, or the outcome was learned
	Owned                     // this node is the owner, of a new epoch
	Renewed                   // as Owned, and it was the owner before and nobody else has acted since
	Moved                     // another node is the owner; may come again for the same epoch
	Closed                    // every task has ended, and that is committed
	Void                      // the origin has forgotten the register: the job is long over
	Over                      // the job is closed, as another member says that does not know how it ended
	Gone                      // the job is over, and no member has its outcome any more
)

// Change is a change of a register that whoever keeps the job has to follow.
type Change struct {
	Kind  ChangeKind
	Of    *Replica
	Index uint32 // of the entry: Written only
}

func (s *Replicas) changed(k ChangeKind, r *Replica) {
	s.changes = append(s.changes, Change{Kind: k, Of: r})
}

// NextChange returns the oldest change that it has not returned yet, and reports whether there is one.
func (s *Replicas) NextChange() (c Change, ok bool) {
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

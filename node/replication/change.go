package replication

import "skep/grid"

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

// NextChange removes the oldest change that was not applied yet, and reports whether there is one.
func (s *Replicas) NextChange() (c Change, ok bool) {
	if len(s.changes) == 0 {
		return c, false
	}
	c = s.changes[0]
	if s.changes = s.changes[1:]; len(s.changes) == 0 {
		s.changes = nil
	}
	return c, true
}

// Save saves all of a replica but the entries.
func (s *Replicas) Save(r *Replica, fx *grid.Effects) {
	st := &r.state
	fx.Save(grid.RecRegister).Register = &grid.RegisterRecord{ID: r.id, Spec: r.spec, Members: r.members, Submitted: r.submitted,
		Promised: st.Promised, VotedFor: st.VotedFor, Epoch: st.Epoch, Owner: st.Owner, Done: st.Done,
		Held: len(r.spec.Inputs) > 0 && (r.InputsHeld || r.id.Origin == s.cfg.Self)}
}

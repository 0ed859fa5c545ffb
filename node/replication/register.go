package replication

import (
	"cmp"
	"iter"

	"skep/grid"
	"skep/node/chain"
	"skep/node/failures"
	"skep/node/replication/quorum"
	"skep/sparse"
)

// Register is one member's copy of the register of one job. Everything in it but ownership and campaign must be on disk
// before an answer leaves.
type Register struct {
	first []grid.NodeID // the members that the origin chose
	seats quorum.Set    // follows state.Set, but for who joins
	me    grid.NodeID
	self  int    // place of me; -1 = this node was replaced
	tasks uint32 // also the index of the cancellation
	state grid.RegisterState
	// the job is closed, a tombstone said: the highest epoch of its outcome; 0 = not heard. Not saved
	closedIn  uint32
	bytes     grid.Bytes        // of the entries: see Weight
	retried   int               // failures in the entries of tasks: see Retried
	slots     sparse.List[slot] // an unwritten entry takes no memory
	chain     *chain.Chain      // of a signed job; nil = it is not
	ownership *ownership        // nil unless this member is the owner
	campaign  *campaign         // nil unless this member campaigns
}

// slot is an entry: how a task ended, or that the job is cancelled.
type slot struct {
	value      *grid.Entry // nil = unwritten
	acceptedBy uint8       // owner only: bit set of the members that have accepted it in the owner's epoch
	queued     uint8       // owner only: bit set of the members for which it is in progress.queue
	committed  bool
	inherited  bool // owner only: from an earlier epoch, and not committed in the owner's
	decidedNow bool // owner only: decided by this member since it became the owner
}

// makeRegister returns a member's copy of the register of a job of that many tasks, and of so many further entries
// after the cancellation: of what the job waits for. It keeps members, an odd number up to grid.MaxMembers, whom the
// origin chose; self must be among them or have had a place since.
func makeRegister(self grid.NodeID, members []grid.NodeID, tasks, further uint32, s grid.RegisterState) Register {
	set := quorum.First(members).With(s.Set)
	return Register{first: members, seats: set, me: self, self: set.Place(self), tasks: tasks, state: s,
		slots: sparse.Make[slot](tasks + 1 + further)}
}

// Restore restores an entry from disk.
func (r *Register) Restore(f *grid.Entry, final bool) {
	if int(f.Index) < r.slots.Len() {
		r.set(f.Index, slot{value: f, committed: final})
	}
}

// State returns what must be saved besides the entries.
func (r *Register) State() grid.RegisterState { return r.state }

// First lists the members that the job's origin chose, itself first; read only.
func (r *Register) First() []grid.NodeID { return r.first }

// Places lists the members, and who is being replaced or joins; read only.
func (r *Register) Places() []grid.NodeID { return r.seats.Places() }

// Members lists the members by place; read only.
func (r *Register) Members() []grid.NodeID { return r.seats.Members() }

// Sole reports whether this node is the only member: what it decides is committed at once.
func (r *Register) Sole() bool { return len(r.seats.Members()) == 1 }

// Place returns the place of a node that is a member, is being replaced or joins; -1 = it has none.
func (r *Register) Place(id grid.NodeID) int { return r.seats.Place(id) }

// decides reports whether this node and others, a bit for each place, decide together.
func (r *Register) decides(others uint8) bool { return r.seats.Decides(others | r.bit()) }

// bit is this node's own bit in a set of places.
func (r *Register) bit() uint8 {
	if r.self < 0 {
		return 0
	}
	return 1 << r.self
}

// Value returns an entry and whether it is known to be committed; nil = unwritten.
func (r *Register) Value(i uint32) (*grid.Entry, bool) {
	if x := r.slots.Peek(i); x != nil {
		return x.value, x.committed
	}
	return nil, false
}

// Written iterates over the written entries, in order.
func (r *Register) Written() iter.Seq2[uint32, *grid.Entry] {
	return func(yield func(uint32, *grid.Entry) bool) {
		for i, x := range r.slots.All() {
			if x.value != nil && !yield(i, x.value) {
				return
			}
		}
	}
}

func (r *Register) set(i uint32, x slot) {
	s := r.slots.At(i)
	r.tally(i, s.value, -1)
	r.tally(i, x.value, 1)
	*s = x
}

// tally adds what is counted of an entry, or takes it away. A changed epoch does not change it.
func (r *Register) tally(i uint32, e *grid.Entry, sign int) {
	if e == nil {
		return
	}
	r.bytes += grid.Bytes(sign * e.Weight())
	if i < r.tasks {
		r.retried += sign * failures.Count(e)
	}
}

// Retried is the number of recorded failures after which a task was run again, or is to be.
func (r *Register) Retried() int { return r.retried }

// Bytes estimates the memory of the entries, those of a campaign included, without their slots.
func (r *Register) Bytes() grid.Bytes {
	if r.campaign != nil {
		return r.bytes + r.campaign.bytes
	}
	return r.bytes
}

// Leaves is the number of allocated leaves of sparse.Leaf entries, those of a campaign included.
func (r *Register) Leaves() int {
	if r.campaign != nil {
		return r.slots.Leaves() + r.campaign.entries.Leaves()
	}
	return r.slots.Leaves()
}

// NeedsLeaf reports whether writing an entry allocates a leaf.
func (r *Register) NeedsLeaf(i uint32) bool { return int(i) < r.slots.Len() && r.slots.Peek(i) == nil }

// Cancelled reports whether the job's cancellation is written here, and whether that is committed.
func (r *Register) Cancelled() (written, committed bool) {
	v, committed := r.Value(r.Tasks())
	written = v != nil && !v.Open()
	return written, written && (committed || r.state.Done)
}

// Tasks is the number of tasks; it is also the index of the cancellation.
func (r *Register) Tasks() uint32 { return r.tasks }

// Write applies a write of an epoch's owner, and appends the indices of the entries to save. Whatever the answer, the
// state may have to be saved too.
func (r *Register) Write(from grid.NodeID, g *grid.RegisterMessage, dst []uint32) (grid.RegisterAnswer, []uint32) {
	s := &r.state
	if a := r.stranger(from); a != 0 || r.me == from || g.Epoch == 0 {
		return cmp.Or(a, grid.RegisterUnknown), dst
	}
	r.learn(from, g.Set)
	closed := s.Done && g.Opened <= s.Opened
	if g.Epoch < s.Promised || g.Epoch == s.Promised && s.VotedFor != from {
		if closed {
			return grid.RegisterDone, dst
		}
		return grid.RegisterHigher, dst
	}
	if closed { // nothing changes any more; an owner that does not know so is told
		if !g.Done {
			return grid.RegisterDone, dst
		}
		return grid.RegisterOK, dst
	}
	if g.Epoch > s.Epoch {
		r.depose()
		s.Mandate = g.Mandate
	}
	if !r.isLate(g) { // the owner is alive
		r.campaign = nil
	}
	s.Promised, s.VotedFor, s.Epoch, s.Owner = g.Epoch, from, g.Epoch, from
	r.openedElsewhere(g.Opened)
	for k := range g.Entries {
		f := g.Entries[k]
		if int(f.Index) >= r.slots.Len() {
			continue
		}
		present, final := r.Value(f.Index)
		if present != nil && !present.OlderThan(g.Epoch, f.Round) {
			continue
		}
		if final && present.Round == f.Round && s.Opened > 0 { // an opening succeeds an end and does not change it
			f = *present
		}
		f.Epoch = g.Epoch
		// the owner saved it before: with this member it is two
		r.set(f.Index, slot{value: &f, committed: final && present.Round == f.Round ||
			r.decides(1<<r.Place(from))})
		dst = append(dst, f.Index)
	}
	if g.Done && g.Opened == s.Opened { // else of an earlier close
		s.Done = true
		if r.dropCancellation(g.Epoch) {
			dst = append(dst, r.Tasks())
		}
	}
	return grid.RegisterOK, dst
}

// dropCancellation removes a cancellation of an earlier epoch that the owner who closed the job did not know: it was
// never committed, and is not part of the outcome. It reports whether there was one.
func (r *Register) dropCancellation(epoch uint32) bool {
	v, _ := r.Value(r.Tasks())
	if v == nil || v.Epoch >= epoch {
		return false
	}
	r.set(r.Tasks(), slot{})
	return true
}

// Vote answers a member that campaigns for an epoch. ownerAlive says that the owner is alive as far as is known here;
// the owner itself gets a vote for a higher epoch all the same. A member that has accepted nothing yet votes too: a
// majority of the live members must, whichever they are.
// opened is how often it has opened the register: a member that knows the job closed since, or as often, says so.
func (r *Register) Vote(from grid.NodeID, epoch, opened uint32, ownerAlive bool) grid.RegisterAnswer {
	s := &r.state
	switch {
	case r.stranger(from) != 0:
		return r.stranger(from)
	case r.me == from || s.Epoch == 0 && r.self == 0 && s.Set == nil || !r.seats.Votes(r.self):
		return grid.RegisterUnknown
	case s.Done && opened <= s.Opened:
		return grid.RegisterDone
	case epoch == s.Promised && s.VotedFor == from && epoch > s.Epoch:
		return grid.RegisterOK // repeated
	case epoch <= s.Promised:
		return grid.RegisterHigher
	case ownerAlive && from != s.Owner, !r.plausible(epoch):
		return grid.RegisterLive
	}
	s.Promised, s.VotedFor = epoch, from
	r.depose()
	r.campaign = nil
	r.openedElsewhere(opened)
	return grid.RegisterOK
}

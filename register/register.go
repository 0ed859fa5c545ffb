package register

import (
	"iter"
	"slices"

	"skep/grid"
	"skep/sparse"
)

// Register is one member's part of the register of one job. Everything in it but what the owner and the bidder
// keep of the others is to be on disk before an answer leaves.
type Register struct {
	members   []grid.NodeID
	self      int
	state     State
	bytes     grid.Bytes        // of the entries: see Weight
	slots     sparse.List[slot] // an entry that nobody wrote takes no memory
	ownership *ownership        // of the owner
	campaign  *campaign         // of who wants to be it
}

// State is what is kept on disk beside the entries.
type State struct {
	Promised uint32      // no lower epoch is taken part in
	VotedFor grid.NodeID // whom it was promised to
	Epoch    uint32      // highest accepted; 0 = none yet
	Owner    grid.NodeID // of Epoch
	Done     bool        // every task has ended, and that is final
}

// slot is an entry: how a task ended, or that the job is cancelled.
type slot struct {
	value      *grid.Final // nil = open
	acceptedBy uint8       // members that hold it in the owner's epoch, a bit each; of the owner
	committed  bool
	inherited  bool // an earlier epoch left it, and it is not final in the owner's
}

// New returns the part of a member in the register of a job of that many tasks. self must be among members, of
// whom there is an odd number up to grid.MaxMembers.
func New(self grid.NodeID, members []grid.NodeID, tasks int, s State) *Register {
	return &Register{members: slices.Clone(members), self: slices.Index(members, self), state: s, slots: sparse.Make[slot](uint32(tasks) + 1)}
}

// Restore takes back an entry from disk.
func (r *Register) Restore(f *grid.Final, final bool) {
	if int(f.Index) < r.slots.Len() {
		r.set(f.Index, slot{value: f, committed: final})
	}
}

// State returns what is to be on disk beside the entries.
func (r *Register) State() State { return r.state }

// Members lists the members, the origin first; read only.
func (r *Register) Members() []grid.NodeID { return r.members }

// Majority is how many members decide.
func (r *Register) Majority() int { return len(r.members)/2 + 1 }

// Place returns the place of a member; -1 = it is none.
func (r *Register) Place(id grid.NodeID) int { return slices.Index(r.members, id) }

// Value returns an entry and whether it is known to be final; nil = open.
func (r *Register) Value(i uint32) (*grid.Final, bool) {
	if x := r.slots.Peek(i); x != nil {
		return x.value, x.committed
	}
	return nil, false
}

// Written goes through the entries that are not open, in order.
func (r *Register) Written() iter.Seq2[uint32, *grid.Final] {
	return func(yield func(uint32, *grid.Final) bool) {
		for i, x := range r.slots.All() {
			if x.value != nil && !yield(i, x.value) {
				return
			}
		}
	}
}

// set sets an entry.
func (r *Register) set(i uint32, x slot) {
	old := r.slots.At(i)
	if old.value != nil {
		r.bytes -= grid.Bytes(Weight(old.value))
	}
	if x.value != nil {
		r.bytes += grid.Bytes(Weight(x.value))
	}
	*old = x
}

// Bytes is about how many bytes the entries take, without their places.
func (r *Register) Bytes() grid.Bytes { return r.bytes }

// Leaves is how many runs of sparse.Leaf entries this member has memory for.
func (r *Register) Leaves() int { return r.slots.Leaves() }

// NeedsLeaf reports whether to write an entry takes memory for the run of entries that it is in.
func (r *Register) NeedsLeaf(i uint32) bool { return int(i) < r.slots.Len() && r.slots.Peek(i) == nil }

// Cancelled reports whether the cancellation of the job is held here, and whether that is final.
func (r *Register) Cancelled() (held, final bool) {
	v, final := r.Value(r.Tasks())
	return v != nil, v != nil && (final || r.state.Done)
}

// Tasks is the number of tasks; it is also the index of the cancellation.
func (r *Register) Tasks() uint32 { return uint32(r.slots.Len() - 1) }

// Write takes what the owner of an epoch wrote, and appends the indices of the entries that are to be saved.
// Whatever the answer, the state may have to be saved too.
func (r *Register) Write(from grid.NodeID, g *grid.Register, dst []uint32) (grid.RegisterAnswer, []uint32) {
	s := &r.state
	if r.Place(from) < 0 || r.members[r.self] == from || g.Epoch == 0 {
		return grid.RegisterUnknown, dst
	}
	if g.Epoch < s.Promised || g.Epoch == s.Promised && s.VotedFor != from {
		if s.Done {
			return grid.RegisterDone, dst
		}
		return grid.RegisterHigher, dst
	}
	if s.Done { // nothing changes any more; an owner that does not know so is told
		if !g.Done {
			return grid.RegisterDone, dst
		}
		return grid.RegisterOK, dst
	}
	if g.Epoch > s.Epoch {
		r.ownership = nil
	}
	r.campaign = nil // the owner lives
	s.Promised, s.VotedFor, s.Epoch, s.Owner = g.Epoch, from, g.Epoch, from
	for k := range g.Finals {
		f := g.Finals[k]
		if int(f.Index) >= r.slots.Len() {
			continue
		}
		old, final := r.Value(f.Index)
		if old != nil && old.Epoch >= g.Epoch {
			continue // repeated
		}
		f.Epoch = g.Epoch
		r.set(f.Index, slot{value: &f, committed: final || r.Majority() <= 2}) // the owner saved it before: with this member it is two
		dst = append(dst, f.Index)
	}
	if g.Done {
		s.Done = true
		if r.dropCancellation(g.Epoch) {
			dst = append(dst, r.Tasks())
		}
	}
	return grid.RegisterOK, dst
}

// dropCancellation lets go of a cancellation that an earlier epoch left and that the owner who has brought the job to its end did not know
// of: it was never final, and is not part of the outcome. It reports whether there was one.
func (r *Register) dropCancellation(epoch uint32) bool {
	v, _ := r.Value(r.Tasks())
	if v == nil || v.Epoch >= epoch {
		return false
	}
	r.set(r.Tasks(), slot{})
	return true
}

// Vote answers who wants to be the owner of an epoch. heard says that the owner lives as far as is known
// here; the owner itself is promised a higher epoch all the same. Who has accepted nothing yet promises too: a
// majority of the living must do, whichever they are.
func (r *Register) Vote(from grid.NodeID, epoch uint32, heard bool) grid.RegisterAnswer {
	s := &r.state
	switch {
	case r.Place(from) < 0 || r.members[r.self] == from || s.Epoch == 0 && r.self == 0:
		return grid.RegisterUnknown
	case s.Done:
		return grid.RegisterDone
	case epoch == s.Promised && s.VotedFor == from && epoch > s.Epoch:
		return grid.RegisterOK // said again
	case epoch <= s.Promised:
		return grid.RegisterHigher
	case heard && from != s.Owner:
		return grid.RegisterLive
	}
	s.Promised, s.VotedFor = epoch, from
	r.ownership, r.campaign = nil, nil
	return grid.RegisterOK
}

// Page adds entries from Next on to an answer, as far as they fit.
func (r *Register) Page(next uint32, g *grid.Register) {
	size := 0
	g.Next, g.More = max(next, uint32(r.slots.Len())), false
	for i, x := range r.slots.From(next) {
		f := x.value
		if f == nil {
			continue
		}
		if size += Weight(f); len(g.Finals) == grid.MaxFinals || len(g.Finals) > 0 && size > int(grid.MaxFinalsSize) {
			g.Next, g.More = i, true
			return
		}
		g.Finals = append(g.Finals, *f)
	}
}

// Weight is about how many bytes an entry takes, on the wire, on disk and in memory.
func Weight(f *grid.Final) int {
	n := 128
	if r := f.Result; r != nil {
		n += 256 + len(r.Error) + len(r.Stdout.Inline) + len(r.Stderr.Inline)
		for i := range r.Outputs {
			n += 64 + len(r.Outputs[i].Path)
		}
	}
	return n
}

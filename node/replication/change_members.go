package replication

import (
	"slices"

	"skep/grid"
	"skep/node/replication/quorum"
)

// How a register's members are replaced. DESIGN.md says why that is safe.
//
//	Join: a node is given the record, and counts for nothing
//	   │ it has accepted everything
//	   ▼
//	Replace: the next membership, with the node in the place of a member; the member before it counts still
//	   │ settle: majorities of both hold the membership and what was written before it
//	   ▼
//	the members alone decide

// stranger returns what a node is answered that has no place here; 0 = it has one.
func (r *Register) stranger(id grid.NodeID) grid.RegisterAnswer {
	switch {
	case r.Place(id) >= 0:
		return 0
	case r.seats.Number() > 0:
		return grid.RegisterReplaced
	}
	return grid.RegisterUnknown
}

// MayOwn reports whether this node may own the register: it is a member that no change which it knows replaces.
func (r *Register) MayOwn() bool { return r.self >= 0 && r.self < len(r.seats.Members()) }

// Replaced reports whether this node is no member any more.
func (r *Register) Replaced() bool { return r.self < 0 }

// Joins reports whether this node is given the record and is no member yet.
func (r *Register) Joins() bool { return r.self >= 0 && !r.seats.Votes(r.self) }

// learn takes over a membership that a node with a place here has stated, if it is newer. An owner that learns of other
// members than it knows is the owner no more: only the owner of an epoch changes members in it. No change makes them
// more or fewer. It reports whether the job is signed and a change is not.
func (r *Register) learn(from grid.NodeID, m *grid.Membership) (forged bool) {
	if r.Place(from) < 0 || !r.seats.Superseded(m, r.me) || len(m.Members) != len(r.first) {
		return false
	}
	if r.chain != nil && r.chain.Follow(m) != nil {
		return true
	}
	if r.ownership != nil && !slices.Equal(m.Members, r.Members()) {
		r.depose()
	}
	r.state.Set = m
	r.reseat(r.seats.With(m))
	return false
}

// depose ends this node's ownership, if it has it. Who joined for it joins no longer.
func (r *Register) depose() {
	if r.ownership != nil && r.ownership.joining != nil {
		r.seats = r.seats.Without()
	}
	r.ownership = nil
}

// restate accepts the membership in this node's own epoch, as its new owner, if it is not settled.
func (r *Register) restate() {
	if r.seats.Settled() {
		return
	}
	m := *r.state.Set
	m.Epoch = r.state.Epoch
	r.state.Set, r.seats = &m, r.seats.With(&m)
}

// Join begins, as the owner, to give the record to a node that is to replace a member.
func (r *Register) Join(id grid.NodeID) {
	if r.ownership == nil || !r.seats.Settled() || r.ownership.joining != nil || r.Place(id) >= 0 {
		panic("register: one node joins at a time")
	}
	r.reseat(r.seats.Adding(id))
	r.ownership.joining = r.seats.Joining(r.state.Epoch, r.links())
	for i := range r.Written() {
		r.enqueueFor(r.Place(id), i)
	}
}

// Joining returns the node that is given the record; zero = none.
func (r *Register) Joining() (id grid.NodeID) {
	if r.ownership != nil && r.ownership.joining != nil {
		id = r.ownership.joining.Extra
	}
	return id
}

// GiveUpJoin has the node that joins join no longer.
func (r *Register) GiveUpJoin() {
	r.ownership.joining, r.ownership.proposal = nil, nil
	r.reseat(r.seats.Without())
}

// Replace puts the node that joins, which must have accepted everything, in the place of a member. The state is saved.
// Of a signed job the change must be endorsed.
func (r *Register) Replace(place int) {
	if id := r.Joining(); id.IsZero() || !r.UpToDate(r.Place(id)) || place == r.self {
		panic("register: who replaces a member has the record")
	}
	r.ownership.joining = nil
	r.state.Set = r.seats.Change(place, r.state.Epoch)
	r.state.Set.Links = r.endorsed()
	r.reseat(r.seats.With(r.state.Set))
	r.awaitOlder()
}

// awaitOlder notes what each member has yet to accept before the change that is not settled may be.
func (r *Register) awaitOlder() {
	for k := range r.ownership.progress {
		p := &r.ownership.progress[k]
		p.older = len(p.queue) + len(p.sent)
	}
}

// setFor returns the membership that the node at a place is told.
func (r *Register) setFor(place int) *grid.Membership {
	if r.ownership.joining != nil && place == len(r.seats.Members()) {
		return r.ownership.joining
	}
	return r.state.Set
}

// toldSet notes the membership that the node at a place has answered with, and reports whether it is not an older one
// than that which it was told. One that knows a change to be settled of which this owner did not says so. One that
// joins may have joined for an earlier owner, or hold a change of that which was never settled: it has the record all
// the same, and overrules them once it is a member.
func (r *Register) toldSet(place int, m *grid.Membership) bool {
	want := r.setFor(place)
	further := m != nil && want != nil && !want.Joining && m.Number == want.Number && m.Settled()
	if want == nil || want.Joining || further || want.Same(m) {
		r.ownership.progress[place].knows = want
		return true
	}
	return false
}

// settle settles the change that is not, if nodes that decide hold it and all that was written before it. It appends
// the entries that are committed with that.
func (r *Register) settle(dst []uint32) []uint32 {
	if r.ownership == nil || r.seats.Settled() {
		return dst
	}
	holds := uint8(0)
	for place, p := range r.ownership.progress {
		if p.accepted && p.knows == r.state.Set && p.older == 0 {
			holds |= 1 << place
		}
	}
	if !r.decides(holds) {
		return dst
	}
	m := *r.state.Set
	m.Extra = grid.NodeID{}
	r.state.Set = &m
	r.reseat(r.seats.With(&m))
	for i, x := range r.slots.All() {
		if x.value != nil {
			dst = r.commitAccepted(i, x, dst)
		}
	}
	return dst
}

// counted are the places whose acceptance counts: a node that is new in the change which is not settled counts once it
// has answered that it knows of the change. One that joined may forget the record, until then.
func (r *Register) counted() uint8 {
	if r.seats.Settled() || r.ownership.progress[r.state.Set.At].knows == r.state.Set || int(r.state.Set.At) == r.self {
		return ^uint8(0)
	}
	return ^(uint8(1) << r.state.Set.At)
}

// forgetNewcomer notes that a node has forgotten the record that it was given.
func (r *Register) forgetNewcomer(place int, g *grid.RegisterMessage) {
	joins := r.ownership.joining != nil && place == len(r.seats.Members())
	if g.Answer != grid.RegisterUnknown || !joins && (r.seats.Settled() || place != int(r.state.Set.At)) {
		return
	}
	for _, x := range r.slots.All() {
		x.acceptedBy &^= 1 << place
	}
}

// reseat takes over another set: what is kept by place follows the nodes.
func (r *Register) reseat(next quorum.Set) {
	before := r.seats.Places()
	r.seats, r.self = next, next.Place(r.me)
	if r.campaign != nil { // who votes has changed
		r.campaignFor(r.campaign.epoch)
	}
	if r.ownership == nil {
		return
	}
	moved := make([]progress, len(next.Places()))
	for place, id := range next.Places() {
		if was := slices.Index(before, id); was >= 0 {
			moved[place] = r.ownership.progress[was]
		}
	}
	r.ownership.progress = moved
	for _, x := range r.slots.All() {
		x.acceptedBy, x.queued = reseated(x.acceptedBy, before, next), reseated(x.queued, before, next)
	}
}

// reseated returns a bit set of places in the order of another set.
func reseated(bits uint8, before []grid.NodeID, next quorum.Set) (b uint8) {
	for place, id := range before {
		if now := next.Place(id); now >= 0 && bits&(1<<place) != 0 {
			b |= 1 << now
		}
	}
	return b
}

// commitAccepted commits an entry, and appends its index, if those that have accepted it decide.
func (r *Register) commitAccepted(i uint32, x *slot, dst []uint32) []uint32 {
	if x.committed || !r.decides(x.acceptedBy&r.counted()) {
		return dst
	}
	if x.committed = true; x.inherited {
		x.inherited = false
		r.ownership.inherited--
	}
	return append(dst, i)
}

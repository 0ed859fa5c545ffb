package chain

import (
	"slices"
	"strings"
	"testing"

	"skep/grid"
)

// agreed is a change that follows what c knows, with the signatures of these nodes.
func (w *world) agreed(c *Chain, epoch uint32, at, node int, by ...int) *Change {
	x := &Change{Epoch: epoch, At: uint8(at), Node: w.ids[node]}
	before := c.members().members
	voters := append(x.after(before), before[at])
	for _, i := range by {
		signer := *c
		signer.signer, signer.self = w.keys[i], w.ids[i]
		x.Votes = append(x.Votes, CastVote{uint8(slices.Index(voters, w.ids[i])), signer.SignChange(x)})
	}
	return x
}

// stated is the membership after changes that follow the first members.
func (w *world) stated(changes ...*Change) *grid.Membership {
	m := &grid.Membership{Members: w.members}
	for _, x := range changes {
		m = &grid.Membership{Number: m.Number + 1, Epoch: x.Epoch, Members: x.after(m.Members), At: uint32(x.At),
			Links: x.append(m.Links)}
	}
	return m
}

// changed is the chain of a node that knows of changes.
func (w *world) changed(t *testing.T, i int, m *grid.Membership) *Chain {
	t.Helper()
	c := w.at(i)
	if err := c.Follow(m); err != nil {
		t.Fatal(err)
	}
	return c
}

// voted is the votes of nodes that know of changes.
func (w *world) voted(t *testing.T, m *grid.Membership, epoch uint32, owner int, voters ...int) string {
	t.Helper()
	var votes []CastVote
	for _, i := range voters {
		votes = append(votes, CastVote{uint8(slices.Index(m.Members, w.ids[i])),
			w.changed(t, i, m).Vote(epoch, w.ids[owner])})
	}
	return Mandate(votes)
}

// The members change when a majority of the old and one of the new ones has signed that; a change that a minority has
// signed, one of another job, one that is cut, and one that skips another change do nothing.
func TestForgedChanges(t *testing.T) {
	w := newWorld()
	first := w.at(0)
	good := w.agreed(first, 3, 2, 4, 0, 1)
	with := func(how func(*Change)) *grid.Membership {
		x := *good
		x.Votes = slices.Clone(good.Votes)
		how(&x)
		return w.stated(&x)
	}
	other := newWorld()
	other.job.Nonce[3]++
	known := w.changed(t, 1, w.stated(good))
	next := w.agreed(known, 5, 0, 5, 1, 4)
	skipping := w.stated(good, next)
	skipping.Number, skipping.Links = 1, next.append("")
	reordered := w.stated(good, next)
	reordered.Links = good.append(next.append(""))
	stated := func(how func(*grid.Membership)) *grid.Membership {
		m := *w.stated(good)
		m.Members = slices.Clone(m.Members)
		how(&m)
		return &m
	}
	many := w.stated(good)
	for many.Number <= MaxChanges {
		at := int(many.Number) % 2
		many = &grid.Membership{Number: many.Number + 1, Members: many.Members, At: uint32(at), Links: many.Links +
			good.append("")}
	}
	for name, m := range map[string]*grid.Membership{
		"minority":              w.stated(w.agreed(first, 3, 2, 4, 0)),
		"minority before":       w.stated(w.agreed(first, 3, 2, 4, 0, 4)),
		"minority after":        w.stated(w.agreed(first, 3, 2, 4, 0, 2)),
		"none":                  w.stated(w.agreed(first, 3, 2, 4)),
		"one twice":             with(func(x *Change) { x.Votes[1] = x.Votes[0] }),
		"of an outsider":        with(func(x *Change) { x.Votes[1] = CastVote{1, first.SignChange(x)} }),
		"not in order":          with(func(x *Change) { slices.Reverse(x.Votes) }),
		"another epoch":         with(func(x *Change) { x.Epoch++ }),
		"epoch 0":               w.stated(w.agreed(first, 0, 2, 4, 0, 1)),
		"another place":         with(func(x *Change) { x.At = 1 }),
		"another node":          with(func(x *Change) { x.Node = w.ids[5] }),
		"nobody":                with(func(x *Change) { x.Node = grid.NodeID{} }),
		"a member twice":        w.stated(w.agreed(first, 3, 2, 1, 0, 1)),
		"of another job":        w.stated(other.agreed(other.at(0), 3, 2, 4, 0, 1)),
		"without it":            stated(func(m *grid.Membership) { m.Links = "" }),
		"cut":                   stated(func(m *grid.Membership) { m.Links = m.Links[:len(m.Links)-1] }),
		"longer":                stated(func(m *grid.Membership) { m.Links += "\x00" }),
		"one is skipped":        skipping,
		"in another order":      reordered,
		"of an earlier epoch":   w.stated(good, w.agreed(known, 2, 0, 5, 1, 4)),
		"by those before":       w.stated(good, w.agreed(known, 5, 0, 5, 1, 2)),
		"more than the bound":   many,
		"other members":         stated(func(m *grid.Membership) { m.Members[1] = w.ids[5] }),
		"another number":        stated(func(m *grid.Membership) { m.Number++ }),
		"another was replaced":  stated(func(m *grid.Membership) { m.Extra = w.ids[5] }),
		"at no place":           stated(func(m *grid.Membership) { m.Extra, m.At = w.ids[2], 7 }),
		"replaced by no change": {Number: 0, Members: w.members, Extra: w.ids[4]},
	} {
		c := w.at(2)
		if link(t, c.Follow(m)) != Members || c.number() != 0 || c.links() != "" {
			t.Errorf("%s: the members are changed", name)
		}
	}
	if m := w.stated(good, next); w.at(2).Follow(m) != nil || known.Follow(m) != nil {
		t.Error("what they are made from is not followed")
	}
	if m := stated(func(m *grid.Membership) { m.Extra = w.ids[2] }); w.at(2).Follow(m) != nil {
		t.Error("a change that is not settled is not followed")
	}
}

// After a change the members after it vote for owners of later epochs; those before it did for earlier ones.
func TestVotersFollowTheMembers(t *testing.T) {
	w := newWorld()
	m := w.stated(w.agreed(w.at(0), 3, 2, 4, 0, 1))
	c := w.changed(t, 2, m)
	before := w.ran(1, 3, 2, grid.Attempt{Epoch: 2, N: 1}, w.mandate(2, 1, 1, 2), printed())
	if _, err := c.Check(before); err != nil {
		t.Errorf("an end from before the change: %v", err)
	}
	votes := w.voted(t, m, 6, 4, 1, 4)
	if err := c.CheckOwner(6, w.ids[4], votes, true); err != nil {
		t.Error(err)
	}
	if link(t, c.CheckOwner(3, w.ids[4], w.voted(t, m, 3, 4, 1, 4), false)) != Votes {
		t.Error("a new member owns the epoch in which it became one")
	}
	if link(t, c.CheckOwner(6, w.ids[2], w.mandate(6, 2, 1, 2), true)) != Votes {
		t.Error("a node owns an epoch by the votes of those that are members no more")
	}
	if err := c.CheckOwner(6, w.ids[2], w.mandate(6, 2, 1, 2), false); err != nil {
		t.Errorf("members that have not heard of a change that is not settled may vote still: %v", err)
	}
	if c.CheckVote(w.ids[2], 6, w.ids[4], w.at(2).Vote(6, w.ids[4])) == nil ||
		c.CheckVote(w.ids[2], 6, w.ids[4], w.changed(t, 2, m).Vote(6, w.ids[4])) != nil ||
		c.CheckVote(w.ids[5], 6, w.ids[4], w.changed(t, 5, m).Vote(6, w.ids[4])) == nil {
		t.Error("of a change that is not settled, who is replaced has a vote, with the change, and no outsider")
	}
	later := w.changed(t, 4, m)
	later.Own(6, votes)
	id := grid.AttemptID{Task: grid.TaskID{Job: w.job, Index: 2}, Attempt: grid.Attempt{Epoch: 6, N: 1}}
	r := Attest(w.keys[3], w.ids[3], id, later.Assign(2, id.Attempt, w.ids[3]), printed())
	if err := c.CheckResult(w.ids[3], id, r); err != nil {
		t.Errorf("an end by the new owner: %v", err)
	}
	if link(t, w.at(1).CheckResult(w.ids[3], id, r)) != Members {
		t.Error("who does not know of the change believes its members")
	}
	twice := w.stated(w.agreed(w.at(0), 3, 2, 4, 0, 1), w.agreed(c, 5, 0, 5, 1, 4))
	old := w.ran(2, 3, 2, grid.Attempt{Epoch: 9, N: 1}, w.mandate(9, 2, 1, 2), printed())
	if _, err := w.changed(t, 1, twice).Check(old); link(t, err) != Votes {
		t.Error("an owner of an epoch after two changes has the votes of the members before both")
	}
}

// An owner that was voted for before a change has those votes after it, also after a restart.
func TestOwnerKeepsItsVotes(t *testing.T) {
	w := newWorld()
	votes, m := w.mandate(4, 1, 0, 1), w.stated(w.agreed(w.at(0), 4, 2, 4, 0, 1))
	for what, change := range map[string]*grid.Membership{"its own": m,
		"an earlier one, of which it had not heard": w.stated(w.agreed(w.at(0), 3, 2, 4, 0, 1))} {
		c := w.changed(t, 1, change)
		c.Own(4, votes)
		e := &grid.Entry{Index: 2, Result: c.ByOwner(2, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep})}
		if _, err := w.changed(t, 0, change).Check(e); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Of two first changes that were made in different epochs a node follows the one that it is told last; what it has
// checked of the other counts no more.
func TestAnotherChangeTakesTheSamePlace(t *testing.T) {
	w := newWorld()
	a, b := w.stated(w.agreed(w.at(0), 3, 2, 4, 0, 1)), w.stated(w.agreed(w.at(0), 5, 2, 5, 0, 1))
	c := w.changed(t, 1, a)
	votes := w.voted(t, a, 6, 4, 1, 4)
	if err := c.CheckOwner(6, w.ids[4], votes, true); err != nil {
		t.Fatal(err)
	}
	if c.Follow(b) != nil || c.CheckOwner(6, w.ids[4], votes, true) == nil {
		t.Error("the votes of members of another change count")
	}
}

// Whatever bytes come as changes: none that honest nodes have not made is followed.
func FuzzLinks(f *testing.F) {
	w := newWorld()
	m := w.stated(w.agreed(w.at(0), 3, 2, 4, 0, 1))
	f.Add(m.Links)
	f.Add(m.Links[:len(m.Links)-1])
	f.Add(strings.Repeat(m.Links, 2))
	f.Fuzz(func(t *testing.T, text string) {
		stated := *m
		stated.Links = text
		if err := w.at(2).Follow(&stated); err == nil && text != m.Links {
			t.Error("a forged change is followed")
		}
	})
}

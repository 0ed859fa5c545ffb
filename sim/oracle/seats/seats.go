package seats

import (
	"fmt"
	"slices"

	"skep/grid"
)

// Seats is who decides about a register, as one node knows it.
type Seats struct {
	Members []grid.NodeID
	before  []grid.NodeID // the members before a change that is not settled; nil = the last one is
}

// Of returns who decides by a membership; nil = the members that the job's origin chose.
func Of(first []grid.NodeID, m *grid.Membership) Seats {
	switch {
	case m == nil:
		return Seats{Members: first}
	case m.Settled():
		return Seats{Members: m.Members}
	}
	before := slices.Clone(m.Members)
	before[m.At] = m.Extra
	return Seats{m.Members, before}
}

// Decide reports whether the nodes of which something is so decide together.
func (s Seats) Decide(is func(grid.NodeID) bool) bool {
	return Count(s.Members, is) > len(s.Members)/2 && (s.before == nil || Count(s.before, is) > len(s.before)/2)
}

// Keeps reports whether a node has a say: it is a member, or one that is being replaced.
func (s Seats) Keeps(id grid.NodeID) bool {
	return slices.Contains(s.Members, id) || slices.Contains(s.before, id)
}

// Count returns of how many nodes something is so.
func Count(nodes []grid.NodeID, is func(grid.NodeID) bool) (n int) {
	for _, id := range nodes {
		if is(id) {
			n++
		}
	}
	return n
}

// Newer reports whether a membership says more than another one: it is of a later change, or of the same and settled,
// or accepted in a later epoch. Nil is before the first change.
func Newer(m, than *grid.Membership) bool {
	switch {
	case m.Changes() != than.Changes():
		return m.Changes() > than.Changes()
	case m == nil || than == nil:
		return false
	case m.Settled() != than.Settled():
		return m.Settled()
	}
	return m.Epoch > than.Epoch
}

// Register is what the disks of a world have said of who keeps a register.
type Register struct {
	First   []grid.NodeID               // the members that its origin chose
	Ever    []grid.NodeID               // whose disks have had it, in order
	settled map[uint32]*grid.Membership // by number; never iterated
}

// Save notes that a node's disk has a membership now, and had another one before. It returns what cannot be: the node
// forgets a change, or two memberships are settled as one.
func (r *Register) Save(id grid.NodeID, was, m *grid.Membership) error {
	if !slices.Contains(r.Ever, id) {
		r.Ever = append(r.Ever, id)
	}
	switch {
	case m.Changes() < was.Changes():
		return fmt.Errorf("goes back from change %d of the members to %d", was.Changes(), m.Changes())
	case m == nil || !m.Settled():
		return nil
	}
	members := r.First
	if x := r.settled[m.Number]; x != nil {
		members = x.Members
	} else if m.Number > 0 {
		if r.settled == nil {
			r.settled = make(map[uint32]*grid.Membership)
		}
		r.settled[m.Number], members = m, m.Members
	}
	if !slices.Equal(members, m.Members) {
		return fmt.Errorf("takes change %d of the members for settled otherwise than another node did", m.Number)
	}
	return nil
}

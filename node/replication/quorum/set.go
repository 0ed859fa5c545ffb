package quorum

import (
	"math/bits"
	"slices"

	"skep/grid"
)

// Set is who keeps a register, as one node knows it: the members by place, and at most one further node after them.
// Bit sets of nodes have a bit for each place.
type Set struct {
	places []grid.NodeID
	size   int              // places that are members
	now    *grid.Membership // nil = number 0
}

// First returns the set that a job's origin has chosen: an odd number of members, which are kept.
func First(members []grid.NodeID) Set { return Set{places: members, size: len(members)} }

// With returns the set of a membership; nil = s itself.
func (s Set) With(m *grid.Membership) Set {
	if m == nil {
		return s
	}
	places := m.Members
	if !m.Extra.IsZero() {
		places = append(slices.Clone(places), m.Extra)
	}
	return Set{places: places, size: len(m.Members), now: m}
}

// Adding returns the set with a further node that is no member: it is given the record. The set must be settled.
func (s Set) Adding(id grid.NodeID) Set {
	s.places = append(slices.Clone(s.Members()), id)
	return s
}

// Without returns the set without the node that Adding added.
func (s Set) Without() Set {
	s.places = s.places[:s.size]
	return s
}

// Members lists the members by place; read only.
func (s Set) Members() []grid.NodeID { return s.places[:s.size:s.size] }

// Places lists the members, and the further node if there is one; read only.
func (s Set) Places() []grid.NodeID { return s.places }

// Place returns the place of a node; -1 = it has none.
func (s Set) Place(id grid.NodeID) int { return slices.Index(s.places, id) }

// Number is the number of the last change.
func (s Set) Number() uint32 {
	if s.now == nil {
		return 0
	}
	return s.now.Number
}

// Settled reports whether the members alone decide.
func (s Set) Settled() bool { return s.now == nil || s.now.Settled() }

// Leaving reports whether a place is that of the member that is replaced by a change which is not settled.
func (s Set) Leaving(place int) bool { return place >= s.size && !s.Settled() }

// Votes reports whether the node at a place has a say: it is a member, or one that is being replaced.
func (s Set) Votes(place int) bool { return place >= 0 && place < s.size || s.Leaving(place) }

// Decides reports whether nodes decide together: they are a majority of the members, and, while the last change is not
// settled, one of the members before it too.
func (s Set) Decides(nodes uint8) bool {
	all := uint8(1)<<s.size - 1
	if bits.OnesCount8(nodes&all) <= s.size/2 {
		return false
	}
	return s.Settled() || bits.OnesCount8(s.before(nodes)) > s.size/2
}

// before returns which of the members before the change that is not settled are among nodes, by their places then.
func (s Set) before(nodes uint8) uint8 {
	at := uint8(1) << s.now.At
	former := nodes & (1<<s.size - 1) &^ at
	if nodes&(1<<s.size) != 0 {
		former |= at
	}
	return former
}

// Newest returns the greatest x such that the nodes whose time is x or later decide; 0 = those with a time do not.
// Times are by place; 0 = none.
func (s Set) Newest(times []grid.Time) (x grid.Time) {
	for _, t := range times {
		nodes := uint8(0)
		for place, other := range times {
			if other >= t && t > 0 {
				nodes |= 1 << place
			}
		}
		if t > x && s.Decides(nodes) {
			x = t
		}
	}
	return x
}

// Superseded reports whether a membership that a member has stated is newer than this one, at node self: of a later
// change; of the same one, if it is settled and this is not, or was accepted in a later epoch; or self is to be given
// the record and has no place.
func (s Set) Superseded(m *grid.Membership, self grid.NodeID) bool {
	switch {
	case m == nil || m.Joining && m.Extra != self:
		return false
	case m.Joining && m.Number == s.Number():
		return s.Place(self) < 0
	case m.Number != s.Number():
		return m.Number > s.Number()
	case s.now == nil || s.now.Joining:
		return false
	case s.Settled() || m.Settled():
		return !s.Settled()
	}
	return m.Epoch > s.now.Epoch
}

// Change returns the membership in which the node that Adding added is in the place of a member, accepted in an epoch.
func (s Set) Change(at int, epoch uint32) *grid.Membership {
	m := &grid.Membership{Number: s.Number() + 1, Epoch: epoch, Members: slices.Clone(s.Members()), At: uint32(at),
		Extra: s.places[at]}
	m.Members[at] = s.places[s.size]
	return m
}

// Joining returns the membership that the node which Adding added is told, with the signed changes that led to it.
func (s Set) Joining(epoch uint32, links string) *grid.Membership {
	return &grid.Membership{Number: s.Number(), Epoch: epoch, Members: s.Members(), Extra: s.places[s.size], Joining: true,
		Links: links}
}

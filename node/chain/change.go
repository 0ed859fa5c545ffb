package chain

import (
	"slices"

	"skep/grid"
)

// Change is a change of the members of a job's register. A majority of the members before it and a majority of those
// after it have signed it, so whoever owned an epoch by the votes of the first is known to the second.
type Change struct {
	Epoch   uint32 // of the owner that made it; later epochs are voted for by the new members
	Members []grid.NodeID
	Before  []CastVote // of the members before it, in their order
	After   []CastVote
}

// MaxChanges bounds the changes of members in a chain.
const MaxChanges = 64

// SignChange returns this node's signature of a change that follows the last one.
func (c *Chain) SignChange(epoch uint32, members []grid.NodeID) string {
	return string(c.signer.Sign(membersChange(c.job, c.members().of, epoch, members)))
}

// Follow adds a change after the last one: from now on the members are its.
func (c *Chain) Follow(x *Change) error {
	last := c.members()
	switch n := len(x.Members); {
	case len(c.lists) > MaxChanges:
		return wrong(Members, "more than %d changes", MaxChanges)
	case n == 0 || n > grid.MaxMembers || n%2 == 0 || x.Epoch < max(last.epoch, 1):
		return wrong(Members, "%d members from epoch %d on, after %d from epoch %d on", n, x.Epoch, len(last.members),
			last.epoch)
	}
	for k, id := range x.Members {
		if slices.Contains(x.Members[:k], id) {
			return wrong(Members, "node %s is a member twice", id.Short())
		}
	}
	s := membersChange(c.job, last.of, x.Epoch, x.Members)
	if err := c.signedBy(s, last.members, x.Before); err != nil {
		return err
	}
	if err := c.signedBy(s, x.Members, x.After); err != nil {
		return err
	}
	c.lists = append(c.lists, memberList{s.sum(), slices.Clone(x.Members), x.Epoch})
	return nil
}

// signedBy checks that a majority of the members has signed a statement.
func (c *Chain) signedBy(s statement, members []grid.NodeID, by []CastVote) error {
	for k, v := range by {
		if int(v.Place) >= len(members) || k > 0 && v.Place <= by[k-1].Place ||
			!c.signer.Verify(members[v.Place], s, []byte(v.Signature)) {
			return wrong(Members, "signature %d is no member's", k)
		}
	}
	if len(by) < len(members)/2+1 {
		return wrong(Members, "%d of %d members have signed it: want a majority", len(by), len(members))
	}
	return nil
}

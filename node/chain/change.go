package chain

import (
	"encoding/binary"
	"slices"

	"skep/grid"
)

// Change is a change of the members of a job's register: a node takes the place of one. It is signed by a majority of
// the members before it and by one of those after it, so whoever owned an epoch by the votes of the first is known to
// the second. One signature counts in both.
type Change struct {
	Epoch uint32 // of the owner that made it; the members after it vote for owners of later epochs
	At    uint8  // the place that changes
	Node  grid.NodeID
	Votes []CastVote // by place after the change; the member that is replaced comes after all others
}

// MaxChanges bounds the changes of members in a chain. The members of a job that has had as many stay.
const MaxChanges = 16

// MaxLinks bounds the bytes of the changes in a chain.
const (
	linkHead = 4 + 1 + len(grid.NodeID{}) + 1
	MaxLinks = MaxChanges * (linkHead + (maxVotes+1)*(1+SignatureSize))
	_        = uint(grid.MaxLinks - MaxLinks)
)

// Full reports whether no change can follow.
func (c *Chain) Full() bool { return c.number() >= MaxChanges }

// SignChange returns this node's signature of a change that follows the last one.
func (c *Chain) SignChange(x *Change) string { return string(c.signer.Sign(c.statement(x))) }

// CheckChange checks a node's signature of a change that follows the last one. Whether the node has a say is the
// caller's to know.
func (c *Chain) CheckChange(voter grid.NodeID, x *Change, signature string) error {
	if !c.signer.Verify(voter, c.statement(x), []byte(signature)) {
		return wrong(Members, "node %s has not signed that node %s takes place %d", voter.Short(), x.Node.Short(), x.At)
	}
	return nil
}

func (c *Chain) statement(x *Change) statement {
	l := c.members()
	return membersChange(c.job, l.of, x.Epoch, x.after(l.members))
}

// after returns the members after the change.
func (x *Change) after(before []grid.NodeID) []grid.NodeID {
	next := slices.Clone(before)
	next[x.At] = x.Node
	return next
}

// append adds the change to links.
func (x *Change) append(links string) string {
	b := append(binary.BigEndian.AppendUint32([]byte(links), x.Epoch), x.At)
	b = append(append(b, x.Node[:]...), byte(len(x.Votes)))
	for _, v := range x.Votes {
		b = append(append(b, v.Place), v.Signature...)
	}
	return string(b)
}

// cutChange takes a change off the front of links.
func cutChange(b string) (x Change, rest string, ok bool) {
	if len(b) < linkHead || b[linkHead-1] > maxVotes+1 {
		return x, "", false
	}
	x.Epoch, x.At = binary.BigEndian.Uint32([]byte(b[:4])), b[4]
	copy(x.Node[:], b[5:])
	n := int(b[linkHead-1])
	if b = b[linkHead:]; len(b) < n*(1+SignatureSize) {
		return x, "", false
	}
	for ; n > 0; n-- {
		x.Votes = append(x.Votes, CastVote{b[0], b[1 : 1+SignatureSize]})
		b = b[1+SignatureSize:]
	}
	return x, b, true
}

// Extend adds a change that its maker has checked after the last one, and returns all changes in a form to keep and to
// send: grid.Membership.Links.
func (c *Chain) Extend(x *Change) string {
	l := c.members()
	next := x.after(l.members)
	s := membersChange(c.job, l.of, x.Epoch, next)
	links := x.append(c.links())
	c.later = &changes{append(c.upTo(c.number()), memberList{s.sum(), next, x.Epoch, uint32(len(links))}), links}
	return links
}

// upTo returns a copy of the lists of members after the first so many changes.
func (c *Chain) upTo(changes int) []memberList {
	if changes == 0 {
		return nil
	}
	return slices.Clone(c.later.lists[:changes])
}

// Follow takes over who the members are, as a node has stated it: after all changes, each of which is checked unless it
// is known. What does not hold changes nothing.
func (c *Chain) Follow(m *grid.Membership) error {
	next := c.common(m.Links)
	cut := next.number() < c.number()
	for rest := m.Links[len(next.links()):]; rest != ""; {
		x, after, ok := cutChange(rest)
		if !ok {
			return wrong(Members, "change %d is malformed", next.number()+1)
		}
		if err := next.checkNext(&x); err != nil {
			return err
		}
		next.Extend(&x)
		rest = after
	}
	if err := next.states(m); err != nil {
		return err
	}
	if cut {
		next.voted = nil
	}
	*c = next
	return nil
}

// Knows reports whether links, whose signatures are not checked here, lead to the members that this chain has.
func (c *Chain) Knows(links string) bool {
	if links == c.links() {
		return true
	}
	next := *c
	for next.later = nil; links != ""; {
		x, rest, ok := cutChange(links)
		if !ok || int(x.At) >= len(c.first.members) || next.Full() {
			return false
		}
		next.Extend(&x)
		links = rest
	}
	return next.members().of == c.members().of
}

// common returns the chain up to where links say otherwise.
func (c *Chain) common(links string) Chain {
	next := *c
	for k := c.number(); k > 0; k-- {
		if end := int(c.after(k).end); end <= len(links) && links[:end] == c.later.links[:end] {
			next.later = &changes{c.upTo(k), links[:end]}
			return next
		}
	}
	next.later = nil
	return next
}

// checkNext checks a change that is to follow the last one.
func (c *Chain) checkNext(x *Change) error {
	last, number := c.members(), c.number()+1
	switch {
	case c.Full():
		return wrong(Members, "more than %d changes", MaxChanges)
	case int(x.At) >= len(last.members) || x.Node.IsZero() || slices.Contains(last.members, x.Node):
		return wrong(Members, "change %d: node %s cannot take place %d", number, x.Node.Short(), x.At)
	case x.Epoch < max(last.epoch, 1):
		return wrong(Members, "change %d is of epoch %d, after one of epoch %d", number, x.Epoch, last.epoch)
	}
	voters := append(x.after(last.members), last.members[x.At])
	before, after := 0, 0
	for k, v := range x.Votes {
		if int(v.Place) >= len(voters) || k > 0 && v.Place <= x.Votes[k-1].Place ||
			c.CheckChange(voters[v.Place], x, v.Signature) != nil {
			return wrong(Members, "change %d: signature %d is no member's", number, k+1)
		}
		if v.Place != x.At {
			before++
		}
		if int(v.Place) < len(last.members) {
			after++
		}
	}
	if n := len(last.members); before < n/2+1 || after < n/2+1 {
		return wrong(Members, "change %d: %d of %d members before it and %d after it have signed it: want a majority of both",
			number, before, n, after)
	}
	return nil
}

// states checks that a membership is that after the last change.
func (c *Chain) states(m *grid.Membership) error {
	n, last := c.number(), c.members()
	if int(m.Number) != n || !slices.Equal(m.Members, last.members) {
		return wrong(Members, "membership %d of %d nodes does not follow from %d changes", m.Number, len(m.Members), n)
	}
	if !m.Settled() && (n == 0 || int(m.At) >= len(last.members) || c.after(n - 1).members[m.At] != m.Extra) {
		return wrong(Members, "node %s was not replaced by change %d", m.Extra.Short(), n)
	}
	return nil
}

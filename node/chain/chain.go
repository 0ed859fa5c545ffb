package chain

import (
	"slices"

	"skep/grid"
)

// Chain is the chain of one job, as its origin has begun it. It signs as this node, and checks what others have signed.
// It keeps what it has checked last, so that the ends of one owner do not cost a check of its votes each.
type Chain struct {
	signer Signer
	self   grid.NodeID
	spec   *grid.JobSpec
	id     grid.JobID
	job    Hash // of what the origin signs
	first  memberList
	later  *changes // of the members; nil = there was none
	own    *grant   // by which this node became the owner last; nil = it never did
	voted  *grant   // that was checked last; nil = none
	ended  *ending  // the end of many tasks that was signed last; nil = none
}

// memberList is the members after so many changes, and the hash of the link that names them.
type memberList struct {
	of      Hash
	members []grid.NodeID
	epoch   uint32 // the change is of this epoch; 0 of the first members
	end     uint32 // of the change in changes.links
}

// changes are the changes of members after the first ones.
type changes struct {
	lists []memberList
	links string // as in grid.Membership.Links
}

type ending struct {
	epoch  uint32
	result Hash
	words  string
	signed *grid.Result
}

// New returns the chain of a job with these first members, the origin first. It keeps them: nobody changes them.
func New(s Signer, self grid.NodeID, id grid.JobID, spec *grid.JobSpec, members []grid.NodeID) *Chain {
	job := genesis(id, spec.Sealed, members).sum()
	return &Chain{signer: s, self: self, spec: spec, id: id, job: job, first: memberList{of: job, members: members}}
}

// genesis is what the origin signs.
func (c *Chain) genesis() statement { return genesis(c.id, c.spec.Sealed, c.first.members) }

// SignGenesis returns the origin's signature of the job, its specification and its first members. This node is the
// origin.
func (c *Chain) SignGenesis() string { return string(c.signer.Sign(c.genesis())) }

// CheckGenesis checks that signature.
func (c *Chain) CheckGenesis(signature string) error {
	if !c.signer.Verify(c.id.Origin, c.genesis(), []byte(signature)) {
		return wrong(Genesis, "the job's origin, node %s, has not signed the specification with these members",
			c.id.Origin.Short())
	}
	return nil
}

// Evidence returns the origin's signature and the first members, for whoever knows neither.
func (c *Chain) Evidence(genesis string) string {
	b := []byte{byte(len(c.first.members))}
	for _, m := range c.first.members {
		b = append(b, m[:]...)
	}
	return string(append(b, genesis...))
}

// members returns the members after the last change.
func (c *Chain) members() *memberList { return c.after(c.number()) }

// number is that of the last change; 0 = there was none.
func (c *Chain) number() int {
	if c.later == nil {
		return 0
	}
	return len(c.later.lists)
}

// after returns the members after so many changes.
func (c *Chain) after(changes int) *memberList {
	if changes == 0 {
		return &c.first
	}
	return &c.later.lists[changes-1]
}

// links returns the changes in the form in which they are kept and sent.
func (c *Chain) links() string {
	if c.later == nil {
		return ""
	}
	return c.later.links
}

// Vote returns this node's vote for the owner of an epoch.
func (c *Chain) Vote(epoch uint32, owner grid.NodeID) string {
	return string(c.signer.Sign(vote(c.job, c.members().of, epoch, owner)))
}

// CheckVote checks the vote of a member, or of the one that was replaced last.
func (c *Chain) CheckVote(voter grid.NodeID, epoch uint32, owner grid.NodeID, signature string) error {
	l := c.members()
	if n := c.number(); n > 0 && !slices.Contains(l.members, voter) &&
		slices.Contains(c.after(n-1).members, voter) {
		return c.checkSignedVote(l, voter, epoch, owner, signature)
	}
	return c.checkVote(l, voter, epoch, owner, signature)
}

func (c *Chain) checkVote(l *memberList, voter grid.NodeID, epoch uint32, owner grid.NodeID, signature string) error {
	if !slices.Contains(l.members, voter) {
		return notVoted(voter, epoch, owner)
	}
	return c.checkSignedVote(l, voter, epoch, owner, signature)
}

func (c *Chain) checkSignedVote(l *memberList, voter grid.NodeID, epoch uint32, owner grid.NodeID,
	signature string) error {
	if !c.signer.Verify(voter, vote(c.job, l.of, epoch, owner), []byte(signature)) {
		return notVoted(voter, epoch, owner)
	}
	return nil
}

func notVoted(voter grid.NodeID, epoch uint32, owner grid.NodeID) error {
	return wrong(Votes, "member %s has not voted for node %s in epoch %d", voter.Short(), owner.Short(), epoch)
}

// CheckOwner checks that a node owns an epoch of the register: a majority of the members has voted for it, or the epoch
// is the first and the node the origin, which nobody need vote for. (Members of whom none has heard of the origin's
// epoch may vote for another owner of the first: the origin has had nothing accepted then, and has nothing more.)
// settled says that the last change of members is known to be settled; else the members before it may have voted, as
// those do that have not heard of it.
func (c *Chain) CheckOwner(epoch uint32, owner grid.NodeID, mandate string, settled bool) error {
	_, rest, ok := cutMandate(mandate)
	if mandate != "" && (!ok || rest != "") {
		return wrong(Votes, "the votes for node %s in epoch %d are malformed", owner.Short(), epoch)
	}
	list := c.votersOf(epoch)
	err := c.checkGrant(&grant{owner, epoch, list, mandate})
	if err != nil && !settled && list > 0 && c.checkGrant(&grant{owner, epoch, list - 1, mandate}) == nil {
		return nil
	}
	return err
}

// Proves reports whether the votes for the owner of an epoch are those that were checked last.
func (c *Chain) Proves(epoch uint32, owner grid.NodeID) bool {
	return c.voted != nil && c.voted.owner == owner && c.voted.epoch >= epoch
}

// CheckOffer checks that who offers an attempt with this assignment owns the attempt's epoch or a later one.
func (c *Chain) CheckOffer(from grid.NodeID, a grid.Attempt, assigned string) error {
	g, _, ok := grant{}, "", len(assigned) > len(c.job) && assigned[:len(c.job)] == string(c.job[:])
	if ok {
		g, _, ok = cutGrant(assigned[len(c.job):])
	}
	if !ok || g.owner != from || g.epoch < a.Epoch {
		return wrong(Assignment, "node %s does not show that it owns epoch %d", from.Short(), a.Epoch)
	}
	return c.checkGrant(&g)
}

// votersOf returns the number of changes after which members vote for the owner of an epoch: all of earlier epochs. Who
// has not heard of the last of these votes after one less.
func (c *Chain) votersOf(epoch uint32) uint8 {
	k := c.number()
	for k > 0 && c.after(k).epoch >= epoch {
		k--
	}
	return uint8(k)
}

func (c *Chain) checkGrant(g *grant) error {
	if c.voted != nil && *g == *c.voted {
		return nil
	}
	if int(g.list) > c.number() {
		return wrong(Members, "of a change of members that is not known")
	}
	l := c.after(int(g.list))
	switch {
	case !slices.Contains(l.members, g.owner):
		return wrong(Votes, "node %s is no member of the job's register", g.owner.Short())
	case g.epoch == 1 && g.list == 0 && g.owner == c.id.Origin && g.mandate == "":
	case g.epoch <= l.epoch || g.list+1 < c.votersOf(g.epoch):
		return wrong(Votes, "epoch %d is not node %s's", g.epoch, g.owner.Short())
	default:
		if err := c.checkVotes(l, g); err != nil {
			return err
		}
	}
	checked := *g
	c.voted = &checked
	return nil
}

func (c *Chain) checkVotes(l *memberList, g *grant) error {
	votes := votesOf(g.mandate)
	for k, v := range votes {
		if int(v.Place) >= len(l.members) || k > 0 && v.Place <= votes[k-1].Place {
			return wrong(Votes, "the votes for node %s in epoch %d are not in the order of the members", g.owner.Short(),
				g.epoch)
		}
		if err := c.checkVote(l, l.members[v.Place], g.epoch, g.owner, v.Signature); err != nil {
			return err
		}
	}
	if len(votes) < len(l.members)/2+1 {
		return wrong(Votes, "%d of %d members have voted for node %s in epoch %d: want a majority", len(votes),
			len(l.members), g.owner.Short(), g.epoch)
	}
	return nil
}

package replication

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// What one member says moves nobody: a hostile one has a vote, and no more.

// A member that has just answered its owner votes for no other that claims to have followed it, unless that shows the
// votes of a majority.
func TestClaimsAreNoVotes(t *testing.T) {
	m := newSigned(t)
	second, third := &m[1], &m[2]
	second.of.answeredOwner(afterwards, m[0].id)
	ask := func() grid.RegisterAnswer {
		var fx grid.Effects
		g := &grid.RegisterMessage{Job: second.Job(), Epoch: 6}
		second.Vote(afterwards.Add(lease/4), third.id, g, &fx)
		return sentTo(t, &fx, third.id, grid.KindVote).Answer
	}
	var fx grid.Effects
	claim := grid.RegisterMessage{Job: second.Job(), Owner: third.id, Epoch: 5}
	second.Claimed(afterwards, third.id, &claim, false, &fx)
	if a := ask(); a != grid.RegisterLive {
		t.Errorf("after a claim it answers %d, want that the owner is alive", a)
	}
	second.Follow(afterwards, 5, third.id)
	if a := ask(); a != grid.RegisterLive {
		t.Errorf("told that the epoch is its, it answers %d, want that the owner is alive", a)
	}
	claim.Mandate = mandateOf(&m[0], third, 5)
	second.Claimed(afterwards, third.id, &claim, false, &fx)
	if a := ask(); a != grid.RegisterOK {
		t.Errorf("shown the votes of a majority, it answers %d, want a vote", a)
	}
}

// mandateOf is the votes of two members for the second of them.
func mandateOf(by, owner *signedMember, epoch uint32) string {
	owner.Register.campaign = &campaign{epoch: epoch, votes: make([]vote, 3)}
	owner.campaign.votes[by.self] = vote{answer: grid.RegisterOK, complete: true, signed: by.chain.Vote(epoch, owner.id)}
	return owner.mandate(epoch, owner.id)
}

// An owner of a signed job stays it when one member speaks of another; an epoch that nobody can have got to is not
// followed either.
func TestOwnerIsNotTalkedDown(t *testing.T) {
	m := newSigned(t)
	origin, third := &m[0], &m[2]
	for _, epoch := range []uint32{2, math.MaxUint32} {
		var fx grid.Effects
		origin.of.SendWrites(afterwards, &fx)
		w := sentTo(t, &fx, third.id, grid.KindWrite)
		origin.Answered(afterwards, third.id, &grid.RegisterMessage{Job: w.Job, Seq: w.Seq, Answer: grid.RegisterHigher,
			Epoch: epoch, Owner: third.id}, nil, &fx)
		if !origin.IsOwner() || origin.promisedElsewhere > 2 {
			t.Errorf("told of epoch %d: owner %v, takes %d for promised", epoch, origin.IsOwner(), origin.promisedElsewhere)
		}
		origin.Repeat(afterwards.Add(time.Minute), &fx)
	}
}

// A candidate that one member tells of a closed job, without its outcome, wins with the votes of the others, which
// would have all of it.
func TestCloseNeedsAnOutcome(t *testing.T) {
	for what, lie := range map[string]grid.RegisterMessage{
		"evicted":                 {Answer: grid.RegisterGone, Epoch: 1},
		"closed, with nothing":    {Answer: grid.RegisterDone, Next: 3},
		"the last epoch promised": {Answer: grid.RegisterHigher, Epoch: math.MaxUint32},
	} {
		m := newSigned(t)
		origin, second, third := &m[0], &m[1], &m[2]
		var fx grid.Effects
		second.Campaign(afterwards, []grid.NodeID{origin.id, third.id}, &fx)
		asks := sentTo(t, &fx, third.id, grid.KindCampaign)
		g := lie
		g.Job, g.Seq = asks.Job, asks.Seq
		if g.Epoch == 0 {
			g.Epoch = asks.Epoch
		}
		second.VoteAnswered(afterwards, third.id, &g, &fx)
		var voted grid.Effects
		origin.Vote(afterwards, second.id, sentTo(t, &fx, origin.id, grid.KindCampaign), &voted)
		second.VoteAnswered(afterwards, origin.id, sentTo(t, &voted, second.id, grid.KindVote), &fx)
		if !second.IsOwner() || second.State().Done || second.AwaitsOutcome() {
			t.Errorf("%s: owner %v, state %+v", what, second.IsOwner(), second.State())
		}
	}
}

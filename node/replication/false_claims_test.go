package replication

import (
	"slices"
	"testing"

	"skep/grid"
	"skep/node/chain"
)

// votesFor is the votes of members for the second one as the owner of an epoch.
func votesFor(m *[3]signedMember, epoch uint32, voters ...int) string {
	var votes []chain.CastVote
	for _, k := range voters {
		votes = append(votes, chain.CastVote{Place: uint8(k), Signature: m[k].chain.Vote(epoch, m[1].id)})
	}
	return chain.Mandate(votes)
}

// claims are ways in which the second member can say to the owner, the first, that it owns a later epoch.
var claims = map[string]func(owner, by *signedMember, mandate string, fx *grid.Effects){
	"a claim": func(owner, by *signedMember, mandate string, fx *grid.Effects) {
		g := &grid.RegisterMessage{Job: owner.id2(), Owner: by.id, Epoch: 9, Signatures: grid.Signatures{Mandate: mandate}}
		owner.Claimed(afterwards, by.id, g, false, fx)
		// who is known to own a later epoch has the vote of the owner, which it is not any more then
		owner.Vote(afterwards, by.id, &grid.RegisterMessage{Job: owner.id2(), Epoch: 10}, fx)
	},
	"an answer to a write": func(owner, by *signedMember, mandate string, fx *grid.Effects) {
		owner.ResetProgress(1)
		owner.MarkDirty()
		owner.of.SendWrites(afterwards, fx)
		g := grid.RegisterMessage{Job: owner.id2(), Owner: by.id, Epoch: 9, Answer: grid.RegisterHigher,
			Seq: owner.ownership.progress[1].seq, Signatures: grid.Signatures{Mandate: mandate}}
		owner.Answered(afterwards, by.id, &g, nil, fx)
	},
	"an answer to a campaign": func(owner, by *signedMember, mandate string, fx *grid.Effects) {
		owner.Campaign(afterwards, nil, fx)
		g := grid.RegisterMessage{Job: owner.id2(), Owner: by.id, Epoch: 9, Answer: grid.RegisterHigher,
			Signatures: grid.Signatures{Mandate: mandate}}
		owner.VoteAnswered(afterwards, by.id, &g, fx)
	},
	"an offer": func(owner, by *signedMember, mandate string, fx *grid.Effects) {
		c := chain.New(by.key, by.id, by.id2(), by.spec, by.First())
		c.Own(9, mandate)
		o := &grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: by.id2()}, Attempt: grid.Attempt{Epoch: 9, N: 1}}}
		if mandate != "none" {
			o.Assigned = c.Assign(0, o.ID.Attempt, owner.id)
		}
		if owner.OfferedBy(by.id, o, fx) {
			owner.Follow(afterwards, 9, by.id)
		}
	},
}

// Regression: a member that says it owns a later epoch had the owner of a signed job step down, by its word alone. It
// needs the votes of a majority; who has none is an offender.
func TestClaimsNeedVotes(t *testing.T) {
	for how, claim := range claims {
		for what, c := range map[string]struct {
			mandate func(m *[3]signedMember) string
			counts  bool
		}{
			"no votes":             {func(*[3]signedMember) string { return "" }, false},
			"bytes that are none":  {func(*[3]signedMember) string { return "none" }, false},
			"its own vote":         {func(m *[3]signedMember) string { return votesFor(m, 9, 1) }, false},
			"votes in another one": {func(m *[3]signedMember) string { return votesFor(m, 8, 1, 2) }, false},
			"a majority":           {func(m *[3]signedMember) string { return votesFor(m, 9, 1, 2) }, true},
		} {
			m := newSigned(t)
			m[0].writes(t, &m[1], &m[2])
			if !m[0].MayAct(afterwards) {
				t.Fatal("the owner may not act")
			}
			var fx grid.Effects
			claim(&m[0], &m[1], c.mandate(&m), &fx)
			if offends := slices.Contains(fx.Offences, m[1].id); m[0].IsOwner() == c.counts || offends == c.counts {
				t.Errorf("%s, %s: it is the owner: %v; the member is an offender: %v", how, what, m[0].IsOwner(), offends)
			}
		}
	}
}

// An announcement has no room for votes: of a signed job it is no claim, and none that is false.
func TestAnnouncementsClaimNothing(t *testing.T) {
	m := newSigned(t)
	m[0].writes(t, &m[1], &m[2])
	var fx grid.Effects
	m[0].Claimed(afterwards, m[1].id, &grid.RegisterMessage{Job: m[0].id2(), Owner: m[1].id, Epoch: 9}, true, &fx)
	m[0].Vote(afterwards, m[1].id, &grid.RegisterMessage{Job: m[0].id2(), Epoch: 10}, &fx)
	if !m[0].IsOwner() || len(fx.Offences) > 0 {
		t.Errorf("it is the owner: %v; offenders: %v", m[0].IsOwner(), fx.Offences)
	}
}

// An honest member that has promised a later epoch names its owner with the votes, or does not name it.
func TestOwnersAreNamedWithTheirVotes(t *testing.T) {
	m := newSigned(t)
	m[0].writes(t, &m[1], &m[2])
	w := &grid.RegisterMessage{Job: m[2].id2(), Epoch: 9, Signatures: grid.Signatures{Mandate: votesFor(&m, 9, 1, 2)}}
	var fx grid.Effects
	if a := m[2].Write(afterwards, m[1].id, w, &fx); a != grid.RegisterOK {
		t.Fatalf("the new owner is answered %d", a)
	}
	m[2].Answer(m[0].id, grid.KindWriteAck, &grid.RegisterMessage{Job: m[2].id2(), Epoch: 1}, grid.RegisterHigher, &fx)
	if a := sentTo(t, &fx, m[0].id, grid.KindWriteAck); a.Owner != m[1].id || a.Mandate != w.Mandate {
		t.Errorf("it says %v with %d bytes of votes", a.Owner.Short(), len(a.Mandate))
	}
	m[2].state.Promised, m[2].ownerEpoch = 12, 12 // it has heard of an owner, and has nothing to show for it
	fx.Reset()
	m[2].Answer(m[0].id, grid.KindWriteAck, &grid.RegisterMessage{Job: m[2].id2(), Epoch: 1}, grid.RegisterHigher, &fx)
	if a := sentTo(t, &fx, m[0].id, grid.KindWriteAck); !a.Owner.IsZero() || a.Epoch != 12 {
		t.Errorf("it says %v in epoch %d", a.Owner.Short(), a.Epoch)
	}
}

// Regression: a member that offered an attempt in a later epoch needed no votes if it said that members had changed
// of which this one has not heard. Such an offer shows the signed changes.
func TestOffersShowTheChangesOfMembers(t *testing.T) {
	m, fourth, set := replaced(t)
	owner := m[0].chain
	owner.Own(9, chain.Mandate([]chain.CastVote{{Place: 0, Signature: owner.Vote(9, m[0].id)},
		{Place: 1, Signature: votedAfter(t, &m[1], set, 9, m[0].id)}}))
	honest := grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: m[0].id2()}, Attempt: grid.Attempt{Epoch: 9, N: 1}},
		Members: set.Members, Changes: set.Number}
	m[0].Prove(&honest, fourth.id)
	for what, c := range map[string]struct {
		how   func(o *grid.Offer)
		taken bool
	}{
		"as it is":         {func(*grid.Offer) {}, true},
		"no signed change": {func(o *grid.Offer) { o.Links = "" }, false},
		"no change":        {func(o *grid.Offer) { o.Links, o.Changes = "", 0 }, false},
		"other members":    {func(o *grid.Offer) { o.Members = []grid.NodeID{m[0].id, m[1].id, fifth} }, false},
		"no votes": {func(o *grid.Offer) {
			const votes = 32 + 32 + 4 + 1 // what precedes them in an assignment
			o.Assigned = o.Assigned[:votes] + "\x00"
		}, false},
	} {
		x := newSigned(t)
		o := honest
		c.how(&o)
		var fx grid.Effects
		taken := x[1].OfferedBy(m[0].id, &o, &fx)
		if offends := len(fx.Offences) > 0; taken != c.taken || offends == c.taken {
			t.Errorf("%s: it may offer: %v; it is an offender: %v", what, taken, offends)
		}
	}
}

// votedAfter is a member's vote for the owner of an epoch once it knows of other members.
func votedAfter(t *testing.T, m *signedMember, set *grid.Membership, epoch uint32, owner grid.NodeID) string {
	t.Helper()
	c := *m.chain
	if err := c.Follow(set); err != nil {
		t.Fatal(err)
	}
	return c.Vote(epoch, owner)
}

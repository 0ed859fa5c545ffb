package worker

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"skep/grid"
	"skep/node/chain"
)

// Regression: a member of a signed job's register that offers an attempt in a later epoch than the owner's had the
// worker's attempts reported to it. It needs the votes of a majority.
func TestOffersOfLaterEpochsNeedVotes(t *testing.T) {
	var ids []grid.NodeID
	var keys []chain.Key
	for k := range 4 {
		key := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), byte(k)))
		keys, ids = append(keys, chain.Key(key)), append(ids, grid.NodeID(key.Public().(ed25519.PublicKey)))
	}
	job, spec := grid.JobID{Origin: ids[0]}, &grid.JobSpec{Count: 1, Seal: grid.Seal{Sealed: "sealed", Signed: true}}
	of := func(k int) *chain.Chain { return chain.New(keys[k], ids[k], job, spec, ids[:3]) }
	votes := func(by ...int) string {
		var cast []chain.CastVote
		for _, k := range by {
			cast = append(cast, chain.CastVote{Place: uint8(k), Signature: of(k).Vote(4, ids[1])})
		}
		return chain.Mandate(cast)
	}
	for what, c := range map[string]struct {
		mandate string
		taken   bool
	}{
		"nothing signed": {"none", false},
		"no votes":       {"", false},
		"its own vote":   {votes(1), false},
		"a majority":     {votes(1, 2), true},
	} {
		w := &Worker{cfg: Config{Self: ids[3], Signer: keys[3]}}
		w.owners = map[grid.JobID]*ownerRecord{job: {members: ids[:3], owner: ids[0], epoch: 1, attempts: 1}}
		o := &grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: job}, Attempt: grid.Attempt{Epoch: 4, N: 1}}, Spec: spec,
			Members: ids[:3]}
		if c.mandate != "none" {
			owner := of(1)
			owner.Own(4, c.mandate)
			o.Assigned = owner.Assign(0, o.ID.Attempt, ids[3])
		}
		var fx grid.Effects
		taken := w.mayOffer(ids[1], o, &grid.KnownRegister{}, &fx)
		if offends := slices.Contains(fx.Offences, ids[1]); taken != c.taken || offends == c.taken {
			t.Errorf("%s: it may offer: %v; it is an offender: %v", what, taken, offends)
		}
	}
}

// Regression: the same member needed no votes if it said that the members had changed. Who offers after a change shows
// what its origin and the members have signed.
func TestOffersAfterChangesOfMembersNeedVotes(t *testing.T) {
	var ids []grid.NodeID
	var keys []chain.Key
	for k := range 5 {
		key := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), byte(k)))
		keys, ids = append(keys, chain.Key(key)), append(ids, grid.NodeID(key.Public().(ed25519.PublicKey)))
	}
	job, spec := grid.JobID{Origin: ids[0]}, &grid.JobSpec{Count: 1, Seal: grid.Seal{Sealed: "sealed", Signed: true}}
	id := grid.AttemptID{Task: grid.TaskID{Job: job}, Attempt: grid.Attempt{Epoch: 4, N: 1}}
	change := chain.Change{Epoch: 2, At: 2, Node: ids[4]}
	first := func(k int) *chain.Chain { return chain.New(keys[k], ids[k], job, spec, ids[:3]) }
	for k := range 2 {
		change.Votes = append(change.Votes, chain.CastVote{Place: uint8(k), Signature: first(k).SignChange(&change)})
	}
	after := func(k int) *chain.Chain { c := first(k); c.Extend(&change); return c }
	var votes []chain.CastVote
	for place, k := range []int{0, 1} {
		votes = append(votes, chain.CastVote{Place: uint8(place), Signature: after(k).Vote(4, ids[1])})
	}
	owner := after(1)
	owner.Own(4, chain.Mandate(votes))
	honest := grid.Offer{ID: id, Spec: spec, Members: []grid.NodeID{ids[0], ids[1], ids[4]}, Changes: 1,
		Assigned: owner.Assign(0, id.Attempt, ids[3]), Evidence: owner.Evidence(first(0).SignGenesis()),
		Links: first(1).Extend(&change)}
	invented := first(1) // with itself and a node of its choice as the members
	for what, c := range map[string]struct {
		how   func(o *grid.Offer)
		taken bool
	}{
		"as it is":    {func(*grid.Offer) {}, true},
		"no evidence": {func(o *grid.Offer) { o.Evidence = "" }, false},
		"evidence of its own": {func(o *grid.Offer) { o.Evidence = owner.Evidence(invented.SignGenesis()) },
			false},
		"no signed change": {func(o *grid.Offer) { o.Links = "" }, false},
		"other members":    {func(o *grid.Offer) { o.Members = []grid.NodeID{ids[0], ids[1], ids[3]} }, false},
		"no votes": {func(o *grid.Offer) {
			c := after(1)
			c.Own(4, "")
			o.Assigned = c.Assign(0, id.Attempt, ids[3])
		}, false},
	} {
		w := &Worker{cfg: Config{Self: ids[3], Signer: keys[3]}}
		w.owners = map[grid.JobID]*ownerRecord{job: {members: ids[:3], owner: ids[0], epoch: 1, attempts: 1}}
		o := honest
		c.how(&o)
		var fx grid.Effects
		taken := w.mayOffer(ids[1], &o, &grid.KnownRegister{}, &fx)
		if offends := slices.Contains(fx.Offences, ids[1]); taken != c.taken || offends == c.taken {
			t.Errorf("%s: it may offer: %v; it is an offender: %v", what, taken, offends)
		}
	}
}

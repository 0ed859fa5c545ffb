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

package replication

import (
	"crypto/ed25519"
	"runtime"
	"testing"
	"time"

	"skep/grid"
	"skep/node/chain"
)

// signedMember is a member of the register of a signed job.
type signedMember struct {
	*Replica
	id  grid.NodeID
	key chain.Key
}

// newSigned returns the three members of the register of a job with two tasks, the origin first.
func newSigned(t *testing.T) (members [3]signedMember) {
	t.Helper()
	var ids []grid.NodeID
	for k := range members {
		key := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), byte(k)))
		members[k].key, members[k].id = chain.Key(key), grid.NodeID(key.Public().(ed25519.PublicKey))
		ids = append(ids, members[k].id)
	}
	job := grid.JobID{Origin: ids[0]}
	spec := &grid.JobSpec{Count: 2, Seal: grid.Seal{Sealed: "sealed", Signed: true}}
	var state grid.RegisterState
	for k := range members {
		m := &members[k]
		s := new(NewReplicas(Config{Self: m.id, Boot: 1, Lease: lease, Signer: m.key}, grid.Wall{}, grid.NewRand(1, 1)))
		described := &grid.RegisterMessage{Job: job, Spec: spec, Members: ids,
			Signatures: grid.Signatures{Genesis: state.Genesis}}
		if s.Admits(described) != (k > 0) {
			t.Fatalf("member %d: a job is kept that its origin has not signed, or one that it has is not", k)
		}
		m.Replica = s.Add(job, spec, 0, ids, state)
		if k == 0 {
			m.Own(0)
			state = m.State() // the others have accepted its epoch
		}
	}
	return members
}

// assignedBy is what an owner signs that gives an attempt to a worker.
func assignedBy(r *Replica, id grid.AttemptID, worker grid.NodeID) string {
	o := grid.Offer{ID: id}
	r.Prove(&o, worker)
	return o.Assigned
}

// sentTo returns the message of a kind that a step sends to a node.
func sentTo(t *testing.T, fx *grid.Effects, to grid.NodeID, kind grid.Kind) *grid.RegisterMessage {
	t.Helper()
	for i := range fx.Sends {
		if s := &fx.Sends[i]; s.To == to && s.Msg.Kind == kind {
			return &s.Msg.Register
		}
	}
	t.Fatalf("no message of kind %v is sent", kind)
	return nil
}

// takeOver has a member campaign, and returns the vote of another one that it asks.
func takeOver(t *testing.T, candidate, voter *signedMember, now grid.Time) *grid.RegisterMessage {
	t.Helper()
	var fx grid.Effects
	candidate.Campaign(now, []grid.NodeID{voter.id}, &fx)
	asks := sentTo(t, &fx, voter.id, grid.KindCampaign)
	var voted grid.Effects
	voter.Vote(now, candidate.id, asks, &voted)
	return sentTo(t, &voted, candidate.id, grid.KindVote)
}

// forgedEnd is an end of the second task that nobody has signed.
func forgedEnd(by *signedMember, epoch uint32) grid.Entry {
	return grid.Entry{Index: 1, Epoch: epoch, Attempt: grid.Attempt{Epoch: 1, N: 9}, Worker: by.id,
		Result: &grid.Result{Cause: grid.Exited}}
}

const afterwards = grid.Time(2 * time.Hour)

// A member owns an epoch by the signed votes of a majority, which it shows with its first write; the others take it and
// the ends that it has signed.
func TestSignedVotesMakeAnOwner(t *testing.T) {
	m := newSigned(t)
	origin, second, third := &m[0], &m[1], &m[2]
	var fx grid.Effects
	second.VoteAnswered(afterwards, third.id, takeOver(t, second, third, afterwards), &fx)
	if !second.IsOwner() || second.State().Mandate == "" || len(fx.Offences) > 0 {
		t.Fatalf("after an honest vote: %+v, offences %v", second.State(), fx.Offences)
	}
	end := second.SignEnd(0, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep})
	second.Propose(&grid.Entry{Index: 0, Result: end})
	second.of.SendWrites(afterwards, &fx)
	w := *sentTo(t, &fx, origin.id, grid.KindWrite)
	w.Entries = []grid.Entry{{Index: 0, Epoch: w.Epoch, Result: end}}
	for _, c := range []struct {
		what string
		how  func(*grid.RegisterMessage)
		want grid.RegisterAnswer
		bad  bool // the sender is an offender
	}{
		{"without votes", func(g *grid.RegisterMessage) { g.Mandate = "" }, grid.RegisterUnknown, true},
		{"of a later epoch", func(g *grid.RegisterMessage) { g.Epoch++ }, grid.RegisterUnknown, true},
		{"with a forged end", func(g *grid.RegisterMessage) { g.Entries = append(g.Entries, forgedEnd(second, g.Epoch)) },
			grid.RegisterUnknown, false},
		{"as it was", func(*grid.RegisterMessage) {}, grid.RegisterOK, false},
		{"again, the votes are known", func(g *grid.RegisterMessage) { g.Mandate = "" }, grid.RegisterOK, false},
	} {
		g := w
		g.Entries = append([]grid.Entry(nil), w.Entries...)
		c.how(&g)
		var fx grid.Effects
		a := origin.Write(afterwards, second.id, &g, &fx)
		if a != c.want || (len(fx.Offences) > 0) != c.bad {
			t.Errorf("a write %s: the answer is %d, want %d; offences %v, want some: %v", c.what, a, c.want, fx.Offences, c.bad)
		}
	}
	if v, _ := origin.Value(1); v != nil || origin.State().Owner != second.id ||
		origin.State().Mandate != second.State().Mandate {
		t.Errorf("the origin has %+v of the second task, and follows %v", v, origin.State().Owner.Short())
	}
	if again := second.of.Add(second.id2(), second.spec, 0, second.Members(), second.State()); !again.Resume(afterwards) ||
		again.SignEnd(1, &grid.Result{Cause: grid.Lost}).Proof == "" {
		t.Error("after a restart the owner signs no more")
	} else if id := (grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}}); assignedBy(again, id, third.id) == "" {
		t.Error("an offer that is repeated after a restart, of an attempt from before the epoch, has no assignment")
	}
}

// A vote that is not signed, one for another epoch, and one that comes with forged ends do not count. The voter is an
// offender for its own signature alone: the origin may have made up the ends.
func TestForgedVotesDoNotCount(t *testing.T) {
	for what, how := range map[string]func(g *grid.RegisterMessage, by *signedMember){
		"not signed":       func(g *grid.RegisterMessage, _ *signedMember) { g.Vote = "" },
		"of another epoch": func(g *grid.RegisterMessage, by *signedMember) { g.Vote = by.chain.Vote(g.Epoch+1, m1(by)) },
		"with a forged end": func(g *grid.RegisterMessage, by *signedMember) {
			g.Entries = append(g.Entries, forgedEnd(by, 1))
		},
		"closed, with a forged end": func(g *grid.RegisterMessage, by *signedMember) {
			g.Answer, g.Entries = grid.RegisterDone, []grid.Entry{forgedEnd(by, 1)}
		},
		"forgotten, with a forged end": func(g *grid.RegisterMessage, by *signedMember) {
			g.Answer, g.Entries = grid.RegisterGone, []grid.Entry{forgedEnd(by, 9)}
		},
	} {
		m := newSigned(t)
		second, third := &m[1], &m[2]
		vote := *takeOver(t, second, third, afterwards)
		how(&vote, third)
		var fx grid.Effects
		second.VoteAnswered(afterwards, third.id, &vote, &fx)
		if v, _ := second.Value(1); second.IsOwner() || second.State().Done || v != nil ||
			(len(fx.Offences) > 0) != (vote.Answer == grid.RegisterOK && len(vote.Entries) == 0) {
			t.Errorf("%s: owner %v, state %+v, the second task %+v, offences %v", what, second.IsOwner(), second.State(), v,
				fx.Offences)
		}
	}
}

// Many jobs are kept: that one is signed takes little beside what its register takes.
func TestSignedRegistersAreSmall(t *testing.T) {
	const jobs = 2000
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	took := func(signed bool) uint64 {
		s := newReplicas()
		s.cfg.Signer = chain.Observer{}
		spec := &grid.JobSpec{Count: 1, Seal: grid.Seal{Sealed: "sealed", Signed: signed}}
		before := heap()
		for i := range jobs {
			s.Add(grid.JobID{Origin: second, Nonce: [10]byte{byte(i), byte(i >> 8)}}, spec, 0,
				[]grid.NodeID{second, self, third}, grid.RegisterState{})
		}
		after := heap()
		runtime.KeepAlive(s)
		return (after - before) / jobs
	}
	if plain, signed := took(false), took(true); signed > plain+300 {
		t.Errorf("a signed register takes %d bytes, another one %d: want at most 300 more", signed, plain)
	}
}

// m1 is the candidate of the tests.
func m1(by *signedMember) grid.NodeID { return by.Members()[1] }

// id2 is the ID of the same job in another table.
func (m *signedMember) id2() grid.JobID { return m.Job() }

package node

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/deposit"
)

// evicted has a job of two tasks closed and then evicted, for want of deposit room.
func evicted(t *testing.T) (*owner, grid.JobID) {
	t.Helper()
	o := newOwner(t, func(c *Config) { c.DepositQuota, c.DepositLimit = 2*grid.MiB, grid.MiB })
	end := func(i uint32) grid.Entry {
		return grid.Entry{Index: i, Attempt: grid.Attempt{Epoch: 1, N: 1}, Worker: slowID, Result: exitZero}
	}
	for i := range byte(2) {
		inputs := files(i, 1, grid.MiB-8*grid.KiB)
		o.write(i, inputs, false)
		id := deposit.InputsID(o.job(i))
		if said, fetches := o.copy(id, nil); !fetches {
			t.Fatalf("the inputs of job %d: %v", i, said)
		}
		o.fetched(id, "")
		o.write(i, inputs, true, end(0), end(1))
	}
	if _, known := o.n.Job(o.job(0)); known {
		t.Fatal("the first job was not evicted")
	}
	return o, o.job(0)
}

// A member that has evicted a job that is over neither votes nor accepts anything any more, also after a restart, and
// says so. It was created anew there, and voted for a second owner of an epoch that it had promised.
func TestEvictedRegisterIsNotCreatedAnew(t *testing.T) {
	o, id := evicted(t)
	members := []grid.NodeID{o.id, selfID, slowID}
	ask := func(r *rig, when string, kind grid.Kind, g grid.RegisterMessage) grid.RegisterMessage {
		t.Helper()
		g.Job, g.Spec, g.Members = id, spec(func(s *grid.JobSpec) { s.Count = 2 }), members
		r.deliver(slowID, kind, func(m *grid.Message) { m.Register = g })
		a := r.one(kind + 1).Msg.Register
		if _, known := r.n.Job(id); known || r.records(grid.RecTombstone) != 1 {
			t.Errorf("%s: the register is here again, with %d tombstones", when, r.records(grid.RecTombstone))
		}
		return a
	}
	check := func(r *rig, when string) {
		t.Helper()
		for _, epoch := range []uint32{1, 2, 9} {
			if a := ask(r, when, grid.KindCampaign, grid.RegisterMessage{Epoch: epoch}); a.Answer != grid.RegisterGone ||
				a.Epoch != 1 || len(a.Entries) > 0 {
				t.Errorf("%s: a campaign for epoch %d is answered %d, %+v", when, epoch, a.Answer, a)
			}
			if a := ask(r, when, grid.KindWrite, grid.RegisterMessage{Epoch: epoch, Seq: 5}); a.Answer != grid.RegisterGone ||
				a.Seq != 5 {
				t.Errorf("%s: a write of epoch %d is answered %d", when, epoch, a.Answer)
			}
		}
		if a := ask(r, when, grid.KindWrite,
			grid.RegisterMessage{Epoch: 2, Seq: 6, Done: true}); a.Answer != grid.RegisterOK || a.Epoch != 2 {
			t.Errorf("%s: that the job is over is answered %d", when, a.Answer)
		}
	}
	check(o.rig, "before a restart")
	again := o.restart()
	again.join(slowID, 1, "linux")
	check(again, "after a restart")

	// A worker that was cut off may let go of what it did.
	attempt := grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: 1, N: 7}}
	again.deliverFor(slowID, grid.KindResult, attempt, exitZero)
	again.one(grid.KindDrop)
}

// The job's origin names other members than those of the tombstone: somebody had forged the register.
func TestForgedTombstoneGivesWayToTheOrigin(t *testing.T) {
	o, id := evicted(t)
	r := o.rig
	if a := r.writeFrom(o.id, id, spec(nil),
		func(g *grid.RegisterMessage) { g.Members = []grid.NodeID{o.id, slowID, r.cfg.Self} }); a != grid.RegisterOK ||
		r.records(grid.RecTombstone) != 0 {
		t.Errorf("the origin's write is answered %d, with %d tombstones", a, r.records(grid.RecTombstone))
	}
}

// A tombstone answers for the members that it has: whoever names others, as the owner of a job of which somebody has
// forged a register here, gets the answer of a node that is no member, and its offers count. It was told that the job
// is over, and gave it up; its offers were ignored, and their attempts lost.
func TestTombstoneAnswersItsOwnMembers(t *testing.T) {
	o, id := evicted(t)
	r := o.rig
	two := spec(func(s *grid.JobSpec) { s.Count = 2 })
	others := []grid.NodeID{o.id, slowID, thirdID}
	for _, members := range [][]grid.NodeID{others, {o.id, slowID, selfID}} {
		for _, kind := range []grid.Kind{grid.KindWrite, grid.KindCampaign} {
			r.deliver(slowID, kind, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Job: id, Epoch: 2, Seq: 1, Spec: two, Members: members}
			})
			if a := r.one(kind + 1).Msg.Register.Answer; a != grid.RegisterUnknown || r.records(grid.RecTombstone) != 1 {
				t.Errorf("%v: answer %d, %d tombstones", kind, a, r.records(grid.RecTombstone))
			}
		}
	}
	for n, from := range []grid.NodeID{o.id, slowID} { // a later owner and the origin
		r.deliver(from, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: 1 + uint32(n),
				N: 8}},
				Spec: two, Class: "a", Lease: r.cfg.Lease, Members: others}
		})
		if len(r.sent(grid.KindAccept)) != 1 {
			t.Errorf("an offer of %v is answered with %v", from.Short(), kindsOf(r.fx.Sends))
		}
	}
}

// A member that hears from the others that its job is over, and that they have evicted it, forgets it too, and does not
// run anything.
func TestMemberForgetsAJobThatAllOthersEvicted(t *testing.T) {
	r := newMember(t)
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	for end := r.now.Add(r.cfg.Lease * 10); len(r.sent(grid.KindCampaign)) == 0 && r.now < end; {
		r.pass(r.cfg.Lease / 3)
	}
	for k, from := range []grid.NodeID{slowID, fastID} {
		r.deliver(from, grid.KindVote, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 4, Answer: grid.RegisterGone}
		})
		if _, known := r.n.Job(replicatedJob); known != (k == 0) {
			t.Fatalf("known %v after %d answers", known, k+1)
		}
		if who, _, _ := r.n.Authority(replicatedJob); k == 0 && who != r.cfg.Self {
			t.Errorf("%v is to be asked about the job", who.Short())
		}
	}
	if r.records(grid.RecTombstone) != 1 || len(r.fx.Starts) > 0 {
		t.Errorf("%d tombstones, %d starts", r.records(grid.RecTombstone), len(r.fx.Starts))
	}
}

// A member that waits in vain for the outcome of a job forgets the job when its time is over, though it hears of
// nobody.
func TestMemberGivesUpAnOutcome(t *testing.T) {
	r := newMember(t)
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	for end := r.now.Add(r.cfg.Lease * 10); len(r.sent(grid.KindCampaign)) == 0 && r.now < end; {
		r.pass(r.cfg.Lease / 3)
	}
	r.deliver(slowID, grid.KindVote, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 4, Answer: grid.RegisterGone}
	})
	tick := func() {
		for end := r.now.Add(r.cfg.Lease / 3); r.now < end; {
			r.pass(end.Sub(r.now))
		}
	}
	tick() // its time begins
	if _, known := r.n.Job(replicatedJob); !known {
		t.Fatal("it is forgotten at once")
	}
	r.now = r.now.Add(48 * time.Hour)
	tick()
	tick()
	if _, known := r.n.Job(replicatedJob); known || r.records(grid.RecTombstone) != 1 || r.records(grid.RecRegister) != 0 {
		t.Errorf("known %v, %d tombstones, %d registers", known, r.records(grid.RecTombstone), r.records(grid.RecRegister))
	}
	for range 3 {
		tick()
	}
	if open := len(r.n.replicas.Open()); open != 0 {
		t.Errorf("%d replicas are checked at each tick still", open)
	}
}

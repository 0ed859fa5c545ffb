package node

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/replication"
)

// A worker that cannot be reached can start nothing after its start lease has expired; then the caller is answered.
func TestCancelIsAnsweredWhenNoWorkerCanStart(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 5, Job: jobID(1)})
	begun, lease := r.now, r.cfg.Lease
	for len(r.fx.Replies) == 0 && r.now < begun.Add(2*lease) {
		r.pass(100 * time.Millisecond)
	}
	want := replication.TakeoverDelay(lease)
	if took := r.now.Sub(begun); took < want || took > want+lease/10 {
		t.Errorf("answered after %v: want the lease and the margin of the clocks, %v", took, want)
	}
}

func TestCancelWithoutAttemptsIsAnsweredAtOnce(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Count = 3 }))
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 5, Job: jobID(1)})
	if len(r.fx.Replies) != 1 || r.fx.Replies[0].Err != "" {
		t.Errorf("replies %+v", r.fx.Replies)
	}
}

// offerTwo makes the node accept two attempts of another node's job; it has room for one.
func (r *rig) offerTwo() (second grid.AttemptID) {
	r.t.Helper()
	r.join(fastID, 10, "linux")
	for i := range uint32(2) {
		second = grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID}, Index: i},
			Attempt: grid.Attempt{Epoch: 1, N: 1}}
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: second, Spec: spec(func(s *grid.JobSpec) { s.Count = 2 }), Class: "a", Lease: r.cfg.Lease}
		})
	}
	return second
}

// A waiting attempt starts only while its start lease, counted from the request, is valid.
func TestQueuedWorkNeedsStartLease(t *testing.T) {
	for _, answered := range []bool{true, false} {
		r := newRig(t, nil)
		second := r.offerTwo()
		first := second
		first.Task.Index = 0
		for len(r.sent(grid.KindStartLease)) == 0 {
			r.pass(time.Second)
		}
		seq := r.one(grid.KindStartLease).Msg.Register.Seq
		if answered {
			r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
				m.Register.Seq, m.Attempts = seq, []grid.AttemptID{second}
			})
		}
		r.now = r.now.Add(r.cfg.Lease * 5 / 6)
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: first, Result: exitZero})
		if started := len(r.fx.Starts) == 1; started != answered {
			t.Errorf("answered %v, started %v", answered, started)
		}
	}
}

// A start lease counts from when it was requested: its owner has counted from when it granted it, and the grant may
// have been on its way for long.
func TestStartLeaseCountsFromItsRequest(t *testing.T) {
	r := newRig(t, nil)
	second := r.offerTwo()
	first := second
	first.Task.Index = 0
	for len(r.sent(grid.KindStartLease)) == 0 {
		r.pass(time.Second)
	}
	requested, seq := r.now, r.one(grid.KindStartLease).Msg.Register.Seq
	r.now = requested.Add(r.cfg.Lease * 5 / 6)
	r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
		m.Register.Seq, m.Attempts = seq, []grid.AttemptID{second}
	})
	r.now = requested.Add(r.cfg.Lease)
	if r.step(grid.Event{Kind: grid.EvEnded, Attempt: first, Result: exitZero}); len(r.fx.Starts) > 0 {
		t.Errorf("a lease after the request %v starts", r.fx.Starts)
	}
}

// A worker that says that it does not have an attempt does not take it by an offer that was on its way: the owner goes
// on without it.
func TestLateOfferOfAnAttemptThatIsNotHere(t *testing.T) {
	for _, asked := range []bool{true, false} {
		r := newRig(t, nil)
		r.join(fastID, 10, "linux")
		id := foreignAttempt(1)
		if asked {
			r.deliverFor(fastID, grid.KindAsk, id, nil)
			r.one(grid.KindRefuse)
		}
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: id, Spec: spec(nil), Class: "a", Lease: r.cfg.Lease}
		})
		if taken := len(r.sent(grid.KindAccept))+len(r.fx.Starts) > 0; taken == asked {
			t.Errorf("asked before %v: the offer is accepted %v", asked, taken)
		}
	}
}

// A restarted worker may have missed anything: it requests a start lease before it starts waiting attempts.
func TestRestartedWorkerRequestsStartLease(t *testing.T) {
	r := newRig(t, nil)
	second := r.offerTwo()
	r = r.restart()
	if len(r.fx.Starts) != 0 {
		t.Fatalf("started %v before a start lease was granted", r.fx.Starts)
	}
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	seq := r.one(grid.KindStartLease).Msg.Register.Seq
	for _, wrong := range []uint64{seq - 1<<40, seq + 1<<20} { // of an earlier boot; never sent
		r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
			m.Register.Seq, m.Attempts = wrong, []grid.AttemptID{second}
		})
		if len(r.fx.Starts) != 0 {
			t.Fatalf("started on lease %x, requested %x", wrong, seq)
		}
	}
	r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
		m.Register.Seq, m.Attempts = seq, []grid.AttemptID{second}
	})
	if len(r.fx.Starts) != 1 {
		t.Errorf("starts %v after the start lease was granted", r.fx.Starts)
	}
}

// Work whose owner does not grant it a start lease delays nothing else: a node that asks is told that a task would
// start at once. The work may start when its owner is back.
func TestUnleasedWorkDelaysNothing(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	r.join(slowID, 10, "linux")
	id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	o := grid.Offer{ID: id, Spec: spec(nil), Class: "a", Lease: r.cfg.Lease} // without a stamp
	r.step(grid.Event{Kind: grid.EvMessage, Peer: fastID, Msg: &grid.Message{Kind: grid.KindOffer, Offer: o}})
	delay := func() time.Duration {
		t.Helper()
		r.deliver(slowID, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 1, Class: "a", Needs: spec(nil).Needs.Resources}
		})
		return r.one(grid.KindState).Msg.State.Backlog
	}
	if delay() == 0 {
		t.Fatal("work that waits for its first start lease does not count")
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	for range 5 { // beats come every third of a lease
		r.pass(r.cfg.Lease/3, grid.TimerBeat)
	}
	if d := delay(); d != 0 {
		t.Errorf("a task is said to start after %v, want at once", d)
	}
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	seq := r.one(grid.KindStartLease).Msg.Register.Seq
	r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
		m.Register.Seq, m.Attempts = seq, []grid.AttemptID{id}
	})
	if len(r.fx.Starts) != 1 {
		t.Errorf("%d attempts start once the start lease is granted, want 1", len(r.fx.Starts))
	}
}

// An offer that does not follow a poll answer from this node may be old: the worker requests a start lease first. So it
// is with an offer that was delayed, or came while this node was suspended.
func TestOldOfferNeedsStartLease(t *testing.T) {
	for name, age := range map[string]time.Duration{"no answer": 0, "an old one": 6 * time.Second} {
		r := newRig(t, nil)
		r.now = 3600e9
		r.join(fastID, 10, "linux")
		id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		o := grid.Offer{ID: id, Spec: spec(nil), Class: "a", Lease: r.cfg.Lease}
		if age > 0 {
			o.Stamp = r.n.worker.Stamp(r.now.Add(-age))
		}
		r.step(grid.Event{Kind: grid.EvMessage, Peer: fastID, Msg: &grid.Message{Kind: grid.KindOffer, Offer: o}})
		if r.one(grid.KindAccept); len(r.fx.Starts) != 0 {
			t.Errorf("%s: it starts at once", name)
		}
		seq := r.one(grid.KindStartLease).Msg.Register.Seq
		r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
			m.Register.Seq, m.Attempts = seq, []grid.AttemptID{id}
		})
		if len(r.fx.Starts) != 1 {
			t.Errorf("%s: it does not start with a start lease", name)
		}
	}
}

// An offer repeats the newest stamp among its worker's answers.
func TestOfferRepeatsNewestStamp(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	r.submit(jobID(1), spec(nil))
	p := r.one(grid.KindPoll)
	r.deliver(fastID, grid.KindState, func(m *grid.Message) {
		m.State = grid.State{ID: p.Msg.Poll.ID, ECT: time.Millisecond, Speed: 1, Cores: grid.CPU, Mine: 1, Stamp: 77}
	})
	if o := r.one(grid.KindOffer); o.Msg.Offer.Stamp != 77 {
		t.Errorf("stamp %d, want 77", o.Msg.Offer.Stamp)
	}
}

// A start released after the start lease has expired is taken back, and a new lease is requested.
func TestLateStartIsTakenBack(t *testing.T) {
	r := newRig(t, nil)
	second := r.offerTwo()
	first := second
	first.Task.Index = 0
	w := r.n.worker.Exec().Get(first)
	if w.State != grid.WorkRunning || w.Until > r.now.Add(w.Lease) {
		t.Fatalf("%+v at %v", w, r.now)
	}
	r.now = w.Until
	r.step(grid.Event{Kind: grid.EvLate, Attempt: first})
	if rec := r.disk["work "+first.String()]; rec.Work.State != grid.WorkQueued || len(r.fx.Starts) != 0 {
		t.Errorf("on disk %v, starts %v", rec.Work.State, r.fx.Starts)
	}
	r.pass(r.cfg.Lease, grid.TimerBeat)
	seq := r.one(grid.KindStartLease).Msg.Register.Seq
	r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
		m.Register.Seq, m.Attempts = seq, []grid.AttemptID{first}
	})
	if len(r.fx.Starts) != 1 || r.fx.Starts[0].Attempt != first {
		t.Errorf("starts %v", r.fx.Starts)
	}
}

// Regression: on a machine that had been up for long, a restarted worker's waiting attempts looked forgotten, and were
// dropped at the first beat.
func TestRestartedWorkerKeepsQueue(t *testing.T) {
	r := newRig(t, nil)
	r.now = 3600e9
	second := r.offerTwo()
	r = r.restart()
	r.pass(9*r.cfg.Lease, grid.TimerResult)
	if _, _, ok := r.n.Work(second); !ok {
		t.Error("it was dropped before ten leases without a start lease had passed")
	}
}

// A lost origin leaves nothing waiting for ever.
func TestQueuedWorkOfLostOriginIsDropped(t *testing.T) {
	r := newRig(t, nil)
	r.offerTwo()
	r = r.restart()
	r.pass(2*time.Minute, grid.TimerResult)
	for end := r.now.Add(2 * time.Minute); r.now < end; {
		r.pass(time.Minute)
	}
	if k := len(r.n.worker.Exec().Queue()); k != 0 {
		t.Errorf("%d attempts wait", k)
	}
}

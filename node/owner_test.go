package node

import (
	"testing"
	"time"

	"skep/grid"
)

// An owner whose epoch a member has gone beyond campaigns for a higher one. It goes on as before only if nobody else
// has owned the job meanwhile: else it has a takeover grace, and ended tasks stay ended.
func TestOwnerRenewsItsEpochIfNoOtherOwned(t *testing.T) {
	for _, since := range []grid.NodeID{selfID, fastID} {
		r := newMember(t)
		r.takeOver()
		before := r.n.Gauges()
		if !r.replica(replicatedJob).IsOwner() || before.Live == 0 {
			t.Fatal("it does not own the job, or not the attempt that runs here")
		}
		r.promiseElsewhere(7)
		for end := r.now.Add(time.Minute); len(r.sent(grid.KindCampaign)) == 0; r.pass(time.Second) {
			if r.now > end {
				t.Fatal("it never campaigns for a higher epoch")
			}
		}
		epoch := r.sent(grid.KindCampaign)[0].Msg.Register.Epoch
		before = r.n.Gauges()
		r.deliver(slowID, grid.KindVote, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: epoch, Answer: grid.RegisterOK, Owner: since, Next: 3,
				Entries: []grid.Entry{{Index: 0, Epoch: epoch - 1, Attempt: grid.Attempt{Epoch: epoch - 1, N: 1}, Worker: slowID,
					Result: exitZero}}}
		})
		if x := r.replica(replicatedJob); !x.IsOwner() || x.State().Epoch != epoch {
			t.Fatalf("it does not own epoch %d", epoch)
		}
		if waits := r.n.Gauges().InGrace > before.InGrace; waits != (since == fastID) {
			t.Errorf("node %s owned the job last: it has a takeover grace: %v", since.Short(), waits)
		}
		if end, _ := r.replica(replicatedJob).Value(0); end == nil || r.n.Gauges().Live >= before.Live {
			t.Errorf("the task that has ended elsewhere has the end %+v, and %d of %d tasks are looked after", end,
				r.n.Gauges().Live, before.Live)
		}
	}
}

// A member accepts no offer that a former owner made before it was succeeded, and none of a closed job: no owner asks
// for the attempt any more.
func TestLateOfferToAMember(t *testing.T) {
	o := newOwner(t, nil)
	o.join(slowID, 1, "linux")
	o.write(1, nil, false)
	writes := func(seq uint64, done bool) {
		o.deliver(slowID, grid.KindWrite, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: o.job(1), Epoch: 2, Seq: seq, Done: done}
		})
	}
	offer := func(from grid.NodeID, a grid.Attempt, want bool) {
		t.Helper()
		id := grid.AttemptID{Task: grid.TaskID{Job: o.job(1)}, Attempt: a}
		o.deliver(from, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: id, Spec: o.spec(o.job(1)), Class: "a", Lease: o.cfg.Lease,
				Members: []grid.NodeID{o.id, selfID, slowID}}
		})
		if _, _, ok := o.n.Work(id); ok != want || (len(o.sent(grid.KindAccept)) > 0) != want {
			t.Errorf("offered attempt %v it has it %v, sent %v", a, ok, kindsOf(o.fx.Sends))
		}
	}
	writes(1, false)
	offer(o.id, grid.Attempt{Epoch: 1, N: 1}, false)
	offer(slowID, grid.Attempt{Epoch: 2, N: 1}, true)
	writes(2, true)
	offer(slowID, grid.Attempt{Epoch: 2, N: 2}, false)
}

// An owner that has renewed its epoch repeats unanswered offers of the epoch before: they are accepted, also by a
// member and by a worker that has another attempt of the job. Else a task would be lost that no worker has.
func TestOfferOfTheEpochBeforeItWasRenewed(t *testing.T) {
	o := newOwner(t, nil)
	o.write(1, nil, false)
	o.deliver(o.id, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: o.job(1), Epoch: 3, Seq: 1}
	})
	for i := range uint32(2) {
		o.deliver(o.id, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: o.attempt(1, i), Spec: o.spec(o.job(1)), Class: "a", Lease: o.cfg.Lease,
				Members: []grid.NodeID{o.id, selfID, slowID}}
		})
		if _, _, ok := o.n.Work(o.attempt(1, i)); !ok || len(o.sent(grid.KindAccept)) != 1 {
			t.Errorf("task %d: it has the attempt %v, sent %v", i, ok, kindsOf(o.fx.Sends))
		}
		o.n.coordinator.LearnOwner(o.now, o.job(1), 3, o.id, &o.fx)
	}
}

// Waiting attempts at a node that learns that it owns the job, and knows the job to be closed, are dropped: the job
// goes on nowhere, and no other node may release attempts at the owner.
func TestOwnerOfClosedJobKeepsNoAttempt(t *testing.T) {
	r := newMember(t)
	r.takeOver()
	rec := r.disk["register "+replicatedJob.String()]
	rec.Register.Done = true // as it learned before it stopped
	r.disk["register "+replicatedJob.String()] = rec
	again := r.restart()
	again.join(fastID, 10, "linux")
	again.deliver(fastID, grid.KindTakeover, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 2, Owner: selfID}
	})
	for i := range uint32(2) {
		if _, _, ok := again.n.Work(replicatedAt(i)); ok {
			t.Errorf("attempt %d is kept", i)
		}
	}
}

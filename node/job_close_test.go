package node

import (
	"maps"
	"testing"

	"skep/grid"
)

// acceptAsFast makes the fast member accept the last write to it.
func (r *rig) acceptAsFast() {
	r.t.Helper()
	seq := r.toFast()
	r.deliver(fastID, grid.KindWriteAck, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: 1, Seq: seq, Answer: grid.RegisterOK}
	})
}

// An end is visible once it is committed and waits for nothing more; the members are told a moment later that the job
// is closed, which is on disk by then. An origin that crashes before it has saved the commit says that it awaits a
// majority, and then the same result as before.
func TestEndIsVisibleWhenCommitted(t *testing.T) {
	r := beginsProvisional(t, on("bsd", 2))
	r.majority(r.toFast())
	id := r.one(grid.KindOffer).Msg.Offer.ID
	r.deliverFor(slowID, grid.KindAccept, id, nil)
	r.deliverFor(slowID, grid.KindResult, id, &grid.Result{Cause: grid.Exited, Exit: 7})
	if r.want(jobID(1), grid.Placed); len(r.sent(grid.KindResultAck)) != 0 {
		t.Fatal("a result is acknowledged that no other node has")
	}
	seq, before := r.toFast(), maps.Clone(r.disk)
	r.deliver(fastID, grid.KindWriteAck, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: 1, Seq: seq, Answer: grid.RegisterOK}
	})
	r.want(jobID(1), grid.Ended)
	r.one(grid.KindResultAck)
	for _, rec := range r.fx.Saves {
		if !rec.Later {
			t.Errorf("the answer waits for a record of kind %v", rec.Kind)
		}
	}
	if len(r.sent(grid.KindWrite)) != 0 {
		t.Errorf("the members are told at once: %v", kindsOf(r.fx.Sends))
	}

	crashed := &rig{t: t, n: r.n, cfg: r.cfg, now: r.now, disk: before}
	again := crashed.restart()
	again.want(jobID(1), grid.Placed)
	if !again.n.AwaitsMajority(again.now, jobID(1)) {
		t.Error("it does not say that no majority lets it decide")
	}
	again.join(fastID, 10, "linux")
	for len(again.sent(grid.KindWrite)) == 0 {
		again.pass(again.cfg.Lease)
	}
	for again.acceptAsFast(); len(again.sent(grid.KindWrite)) > 0; again.acceptAsFast() {
	}
	if again.want(jobID(1), grid.Ended); again.task(jobID(1)).Result.Exit != 7 {
		t.Errorf("after a crash the exit code is %d", again.task(jobID(1)).Result.Exit)
	}

	r.pass(closeDelay)
	over := 0
	for _, s := range r.sent(grid.KindWrite) {
		if s.Msg.Register.Done {
			over++
		}
	}
	if over == 0 || !r.disk["register "+jobID(1).String()].Register.Done {
		t.Errorf("%d members are told that the job is over; sent %v", over, kindsOf(r.fx.Sends))
	}
}

// A job whose end was visible cannot be cancelled, also before the members were told.
func TestNoCancelAfterVisibleEnd(t *testing.T) {
	r := beginsProvisional(t, on("bsd", 2))
	r.majority(r.toFast())
	id := r.one(grid.KindOffer).Msg.Offer.ID
	r.deliverFor(slowID, grid.KindResult, id, &grid.Result{Cause: grid.Exited})
	r.acceptAsFast()
	r.want(jobID(1), grid.Ended)
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 8, Job: jobID(1)})
	q := r.sent(grid.KindCampaign) // whether it was run again
	if len(q) == 0 || q[0].Msg.Register.Epoch != 0 || len(r.fx.Replies) != 0 {
		t.Fatalf("%d questions, %d answers before a majority has answered", len(q), len(r.fx.Replies))
	}
	r.deliver(q[0].To, grid.KindVote, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: 1, Seq: q[0].Msg.Register.Seq, Answer: grid.RegisterHigher}
	})
	if v, _ := r.n.Job(jobID(1)); v.Cancelled || len(r.fx.Replies) != 1 || len(r.fx.Saves) != 0 {
		t.Errorf("cancelled %v, %d answers, %d records", v.Cancelled, len(r.fx.Replies), len(r.fx.Saves))
	}
}

package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func TestRunsHereAlone(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(nil))
	if len(r.fx.Replies) != 1 || r.fx.Replies[0].Err != "" || r.fx.Replies[0].Caller != 9 {
		t.Fatalf("replies %v", r.fx.Replies)
	}
	if len(r.fx.Starts) != 1 || len(r.fx.Sends) != 0 {
		t.Fatalf("starts %v, sends %v: a lone node runs it itself without a message", r.fx.Starts, kindsOf(r.fx.Sends))
	}
	id := r.fx.Starts[0].Attempt
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Exit: 3,
		Wall: time.Second}})
	r.want(jobID(1), grid.Ended)
	if v := r.task(jobID(1)); v.Result.Exit != 3 || v.Worker != selfID || v.Done-v.Began != int64(time.Second) {
		t.Errorf("task %+v", v)
	}
	if len(r.disk) != 2 {
		t.Errorf("on disk %v: want the job and its task only", r.disk)
	}
}

func TestSubmittedTwiceIsOneJob(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(nil))
	r.submit(jobID(1), spec(nil))
	if len(r.fx.Replies) != 1 || r.fx.Replies[0].Err != "" || len(r.fx.Starts)+len(r.fx.Saves) != 0 {
		t.Fatalf("second submission: %+v", r.fx)
	}
}

func TestBadJobIsRefusedWithEverythingThatIsWrong(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Command, s.Count, s.Timeout = nil, 0, -1 }))
	for _, want := range []string{"command", "count 0", "timeout"} {
		if !strings.Contains(r.fx.Replies[0].Err, want) {
			t.Errorf("error %q does not name %q", r.fx.Replies[0].Err, want)
		}
	}
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Policy = "magic" }))
	if !strings.Contains(r.fx.Replies[0].Err, "magic") || len(r.fx.Saves) != 0 {
		t.Errorf("unknown policy: %+v", r.fx.Replies)
	}
}

func TestPlacedOnSoonestNode(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	if e := r.disk["entry "+id.Task.String()].Entry; e.ID != id || e.Worker != fastID {
		t.Fatalf("the attempt is not on disk before its offer leaves: %+v", e)
	}
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.want(jobID(1), grid.Placed)
	r.deliverFor(fastID, grid.KindResult, id, exitZero)
	r.want(jobID(1), grid.Ended)
	if ack := r.one(grid.KindResultAck); ack.To != fastID || ack.Msg.Attempts[0] != id {
		t.Fatalf("ack %+v", ack)
	}
	r.deliverFor(fastID, grid.KindResult, id, &grid.Result{Cause: grid.Exited, Exit: 9})
	r.one(grid.KindResultAck)
	if got := r.task(jobID(1)).Result; got.Exit != exitZero.Exit || got.Cause != exitZero.Cause || len(r.fx.Saves) != 0 {
		t.Error("a repeated result changed the record")
	}
	if s := r.n.Stats(r.now); s.Sent[grid.KindPoll] != 1 || s.Sent[grid.KindOffer] != 1 || s.Moved != 1 {
		t.Errorf("messages %v", s.Sent)
	}
}

func TestResultBeforeAcceptance(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindResult, id, exitZero)
	r.want(jobID(1), grid.Ended)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.one(grid.KindDrop)
}

func TestLostOfferIsRepeated(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.pass(r.cfg.Lease/4, grid.TimerOffer)
	if o := r.one(grid.KindOffer); o.Msg.Offer.ID != id {
		t.Errorf("repeated offer %v, want the same attempt %v", o.Msg.Offer.ID, id)
	}
}

func TestLeaseExpires(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	first := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, first, nil)
	r.deliver(fastID, grid.KindBeat, func(m *grid.Message) { m.Attempts = []grid.AttemptID{first} })
	r.pass(r.cfg.Lease-time.Second, grid.TimerLease)
	r.want(jobID(1), grid.Placed)
	r.pass(2*time.Second, grid.TimerLease)
	if len(r.fx.Starts) != 1 {
		t.Fatalf("not run again here: %v %v", r.task(jobID(1)).Traces, kindsOf(r.fx.Sends))
	}
	second := r.fx.Starts[0].Attempt
	if second.N != first.N+1 {
		t.Errorf("second attempt %v after %v", second, first)
	}
	r.deliverFor(fastID, grid.KindResult, first, &grid.Result{Cause: grid.Exited, Exit: 7})
	if r.one(grid.KindDrop); r.task(jobID(1)).State != grid.Placed {
		t.Error("the late result of a fenced attempt was taken")
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: second, Result: exitZero})
	if v := r.task(jobID(1)); v.Result != nil && v.Result.Exit != 0 || v.State != grid.Ended || v.Lost != 1 {
		t.Errorf("task %+v", v)
	}
}

func TestAtMostOnce(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(func(s *grid.JobSpec) { s.Retries = 0 }), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.pass(r.cfg.Lease*7/8, grid.TimerLease) // its worker is asked before it is given up
	r.pass(r.cfg.Lease+time.Second, grid.TimerLease)
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Lost || v.Result.Exit != grid.ExitSkep {
		t.Fatalf("task %+v", v)
	}
	if len(r.fx.Starts) != 0 {
		t.Error("it was started again")
	}
}

func TestCannotExecuteIsTriedElsewhere(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	no := &grid.Result{Cause: grid.NotFound, Exit: grid.ExitNotFound, Error: "true: not found"}
	r.deliverFor(fastID, grid.KindResult, id, no)
	if len(r.fx.Starts) != 1 {
		t.Fatalf("not tried here: %v", r.task(jobID(1)).Traces)
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: r.fx.Starts[0].Attempt, Result: no})
	for i := 0; i < 20 && r.task(jobID(1)).State != grid.Ended; i++ {
		r.pass(10 * time.Second)
	}
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Exit != grid.ExitNotFound || v.Lost != 0 {
		t.Fatalf("task %+v", v)
	}
}

func TestCancel(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 5, Job: jobID(1)})
	r.want(jobID(1), grid.Ended)
	if d := r.one(grid.KindDrop); d.To != fastID || len(r.fx.Replies) != 0 {
		t.Errorf("drop %+v, reply %+v before the worker has let go", d, r.fx.Replies)
	}
	r.deliver(fastID, grid.KindBeat, func(m *grid.Message) { m.Attempts = []grid.AttemptID{id} })
	r.one(grid.KindDrop)
	r.deliverFor(fastID, grid.KindRefuse, id, nil)
	if len(r.fx.Replies) != 1 || r.fx.Replies[0].Err != "" {
		t.Errorf("reply %+v when the worker has let go", r.fx.Replies)
	}
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 5, Job: jobID(77)})
	if r.fx.Replies[0].Err == "" {
		t.Error("cancelling an unknown job is no error")
	}
}

func TestRestartedOriginAsks(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r = r.restart()
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	if a := r.one(grid.KindAsk); len(a.Msg.Attempts) != 1 || a.Msg.Attempts[0] != id {
		t.Fatalf("ask %+v", a.Msg.Attempts)
	}
	r.deliverFor(fastID, grid.KindResult, id, exitZero)
	r.want(jobID(1), grid.Ended)
}

func TestRestartedOriginRunsAgainWhatTheWorkerLost(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r = r.restart()
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyLost}
	})
	if len(r.fx.Starts) != 1 || r.fx.Starts[0].Attempt.N != 2 {
		t.Fatalf("starts %v", r.fx.Starts)
	}
}

func TestRestartedNodeRunsWhatWaitedAndReportsWhatRan(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Count = 3 }))
	if len(r.fx.Starts) != 1 {
		t.Fatalf("starts %v on one slot", r.fx.Starts)
	}
	r = r.restart()
	started := map[uint32]bool{}
	for range 10 {
		for _, s := range r.fx.Starts {
			started[s.Attempt.Task.Index] = true
		}
		if len(r.fx.Starts) == 0 {
			break
		}
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: r.fx.Starts[0].Attempt, Result: exitZero})
	}
	v, _ := r.n.Job(jobID(1))
	if len(started) != 3 || v.Ended != 3 || v.Failed != 0 {
		t.Fatalf("started %v, job %+v", started, v)
	}
}

func TestNewPeersAdIsAwaited(t *testing.T) {
	r := newRig(t, nil)
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}}
	}))
	r.want(jobID(1), grid.Pending)
	r.join(fastID, 1, "plan9")
	r.answer(fastID)
	if o := r.one(grid.KindOffer); o.To != fastID {
		t.Fatalf("offered to %v", o.To)
	}
}

func TestLocalPolicyGivesUpWhatThisNodeCannotRun(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "plan9")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Policy, s.Needs.Labels = "local", []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}}
	}))
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Exit != grid.ExitUnplaceable {
		t.Fatalf("task %+v", v)
	}
}

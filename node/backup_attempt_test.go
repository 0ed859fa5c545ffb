package node

import (
	"testing"
	"time"

	"skep/grid"
)

// withBackup brings a task of an idempotent job to the point where two nodes have an attempt of it.
func withBackup(t *testing.T, change func(*Config)) (r *rig, first, second grid.Send) {
	t.Helper()
	r = newRig(t, func(c *Config) {
		c.Labels = []grid.Label{{Key: "os", Value: "none"}}
		if change != nil {
			change(c)
		}
	})
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Idempotent, s.Policy = true, "workqueue:2"
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	r.answerAll(nil)
	first = r.one(grid.KindOffer)
	r.deliverFor(first.To, grid.KindAccept, first.Msg.Offer.ID, nil)
	second = r.one(grid.KindOffer)
	if first.To == second.To || !first.Msg.Offer.ID.Attempt.Less(second.Msg.Offer.ID.Attempt) {
		t.Fatalf("the backup is attempt %v at %v, beside %v at %v", second.Msg.Offer.ID.Attempt, second.To.Short(),
			first.Msg.Offer.ID.Attempt, first.To.Short())
	}
	r.deliverFor(second.To, grid.KindAccept, second.Msg.Offer.ID, nil)
	return r, first, second
}

var exitThree = &grid.Result{Cause: grid.Exited, Exit: 3, Wall: time.Second}

// Regression: a backup attempt on this node ends while the files of the primary's result are fetched, and these cannot
// be had. Its result counts: nobody repeats it, and the task waited for ever.
func TestOwnBackupEndsWhileFilesAreFetched(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Policy, s.Needs.CPU = "local", r.cfg.Capacity.CPU }))
	filler := r.fx.Starts[0].Attempt
	r.submit(jobID(2), spec(func(s *grid.JobSpec) { s.Idempotent, s.Policy = true, "workqueue:2" }))
	r.answerAll(nil)
	first := r.one(grid.KindOffer).Msg.Offer.ID
	r.deliverFor(fastID, grid.KindAccept, first, nil)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: filler, Result: exitZero})
	if len(r.fx.Starts) != 1 || r.fx.Starts[0].Attempt.Task != first.Task {
		t.Fatalf("started %v: want the backup attempt", r.fx.Starts)
	}
	own := r.fx.Starts[0].Attempt
	r.deliverFor(fastID, grid.KindResult, first,
		&grid.Result{Cause: grid.Exited, Outputs: []grid.File{{Path: "out", Blob: grid.BlobID{1}, Size: 1 << 20}}})
	if len(r.fx.Fetches) != 1 {
		t.Fatalf("%d fetches, want one", len(r.fx.Fetches))
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: own, Result: exitZero})
	for end := r.now.Add(10 * time.Minute); r.task(first.Task.Job).State != grid.Ended; r.pass(time.Second) {
		if r.now > end {
			t.Fatalf("it is %v", r.task(first.Task.Job).State)
		}
		r.step(grid.Event{Kind: grid.EvFetched, Attempt: first, Err: "gone"})
	}
	if v := r.task(first.Task.Job); v.Worker != selfID || v.Result.Cause != grid.Exited {
		t.Errorf("it has ended at %v: %v", v.Worker.Short(), v.Result.Cause)
	}
}

// The first success is the result, whichever attempt brings it; the other is dropped, and dropped again if its result
// comes late.
func TestFirstAttemptToSucceedWins(t *testing.T) {
	for _, isSecond := range []bool{false, true} {
		r, won, other := withBackup(t, nil)
		if isSecond {
			won, other = other, won
		}
		r.deliverFor(won.To, grid.KindResult, won.Msg.Offer.ID, exitZero)
		r.want(jobID(1), grid.Ended)
		if ack := r.one(grid.KindResultAck); ack.To != won.To || ack.Msg.Attempts[0] != won.Msg.Offer.ID {
			t.Errorf("acknowledged %v to %v", ack.Msg.Attempts, ack.To.Short())
		}
		if drop := r.one(grid.KindDrop); drop.To != other.To || drop.Msg.Attempts[0] != other.Msg.Offer.ID {
			t.Errorf("dropped %v at %v", drop.Msg.Attempts, drop.To.Short())
		}
		r.deliverFor(other.To, grid.KindResult, other.Msg.Offer.ID, exitThree)
		if v := r.task(jobID(1)); v.Result.Exit != 0 || v.Worker != won.To || v.ID != won.Msg.Offer.ID {
			t.Errorf("a late result changed the end: %+v", v)
		}
		if drop := r.one(grid.KindDrop); drop.Msg.Attempts[0] != other.Msg.Offer.ID || len(r.fx.Offences) > 0 {
			t.Errorf("the late attempt: %v, offences %v", drop.Msg.Attempts, r.fx.Offences)
		}
	}
}

// A failed attempt leaves the task to the other one, whose result counts whatever it is: a task that must fail does so
// twice, and not for ever.
func TestBackupAttemptFails(t *testing.T) {
	for _, isSecond := range []bool{false, true} {
		r, failed, other := withBackup(t, nil)
		if isSecond {
			failed, other = other, failed
		}
		r.deliverFor(failed.To, grid.KindResult, failed.Msg.Offer.ID, exitThree)
		r.want(jobID(1), grid.Placed)
		if len(r.sent(grid.KindOffer)) > 0 {
			t.Error("another backup attempt was begun")
		}
		if v := r.task(jobID(1)); v.Worker != other.To || v.Lost != 0 || !v.Backup.IsZero() {
			t.Errorf("the task stands at %v, %d lost, backup at %v", v.Worker.Short(), v.Lost, v.Backup.Short())
		}
		r.deliverFor(other.To, grid.KindResult, other.Msg.Offer.ID, exitThree)
		if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Exit != 3 {
			t.Errorf("%v, %+v: want the end with 3", v.State, v.Result)
		}
	}
}

// The loss of one of two attempts costs no retry; the next attempt has an unused number.
func TestLostBackupCostsNoRetry(t *testing.T) {
	r, first, second := withBackup(t, nil)
	for range 6 { // only the second sends beats
		r.pass(2*time.Second, grid.TimerKind(255))
		r.deliver(second.To, grid.KindBeat, func(m *grid.Message) { m.Attempts = []grid.AttemptID{second.Msg.Offer.ID} })
	}
	v := r.task(jobID(1))
	if v.State != grid.Placed || v.ID != second.Msg.Offer.ID || v.Lost != 0 {
		t.Fatalf("%v at %v, %d lost: want the backup attempt, none lost", v.State, v.ID, v.Lost)
	}
	var again []grid.Send
	r.pass(time.Minute, grid.TimerKind(255)) // now that one falls silent too
	for range 40 {
		r.answerAll(nil)
		if again = r.sent(grid.KindOffer); len(again) > 0 {
			break
		}
		r.pass(time.Second, grid.TimerRetry, grid.TimerPoll, grid.TimerLease)
	}
	if len(again) == 0 || !second.Msg.Offer.ID.Attempt.Less(again[0].Msg.Offer.ID.Attempt) || first.To.IsZero() {
		t.Fatalf("offered again: %v; task %+v", again, r.task(jobID(1)))
	}
}

// A restarted owner knows both attempts.
func TestBothAttemptsAfterRestart(t *testing.T) {
	for _, isSecond := range []bool{false, true} {
		r, won, other := withBackup(t, nil)
		if isSecond {
			won, other = other, won
		}
		r = r.restart()
		r.deliverFor(other.To, grid.KindBeat, other.Msg.Offer.ID, nil)
		if len(r.sent(grid.KindDrop)) > 0 {
			t.Fatal("a live attempt is dropped")
		}
		r.deliverFor(won.To, grid.KindResult, won.Msg.Offer.ID, exitZero)
		r.want(jobID(1), grid.Ended)
		if drop := r.one(grid.KindDrop); drop.To != other.To {
			t.Errorf("dropped at %v", drop.To.Short())
		}
	}
}

// The caller of a cancellation is answered when neither attempt can start any more.
func TestCancelWaitsForBothAttempts(t *testing.T) {
	r, first, second := withBackup(t, nil)
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 5, Job: jobID(1)})
	if len(r.sent(grid.KindDrop)) != 2 || len(r.fx.Replies) > 0 {
		t.Fatalf("%v, replies %v", kindsOf(r.fx.Sends), r.fx.Replies)
	}
	r.deliverFor(second.To, grid.KindRefuse, second.Msg.Offer.ID, nil)
	if len(r.fx.Replies) > 0 {
		t.Fatal("answered though the first attempt may start")
	}
	r.deliverFor(first.To, grid.KindRefuse, first.Msg.Offer.ID, nil)
	if len(r.fx.Replies) != 1 || r.fx.Replies[0].Err != "" {
		t.Errorf("replies %v", r.fx.Replies)
	}
}

// Unless the job is idempotent, or while tasks wait for placement, there is no backup attempt.
func TestNoBackupAttempt(t *testing.T) {
	for name, change := range map[string]func(*grid.JobSpec){
		"not idempotent": func(s *grid.JobSpec) { s.Idempotent = false },
		"plain":          func(s *grid.JobSpec) { s.Policy = "workqueue" },
		"tasks left":     func(s *grid.JobSpec) { s.Count = 3 },
	} {
		r := newRig(t, func(c *Config) { c.Labels = []grid.Label{{Key: "os", Value: "none"}} })
		r.join(fastID, 1, "linux")
		r.join(slowID, 1, "linux")
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			s.Idempotent, s.Policy = true, "workqueue:2"
			s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
			change(s)
		}))
		r.answerAll(nil)
		for _, o := range append([]grid.Send(nil), r.sent(grid.KindOffer)...) {
			r.deliverFor(o.To, grid.KindAccept, o.Msg.Offer.ID, nil)
		}
		if v, _ := r.n.Task(grid.TaskID{Job: jobID(1)}); !v.Backup.IsZero() || r.n.Stats(r.now).Backups > 0 {
			t.Errorf("%s: a backup attempt at %v", name, v.Backup.Short())
		}
	}
}

// A task goes only to an idle node, and the next one to a node that has delivered.
func TestWorkqueueWaitsForIdleNodes(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Labels = []grid.Label{{Key: "os", Value: "none"}} })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Count, s.Policy = 4, "workqueue"
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	r.answerAll(map[grid.NodeID]int64{slowID: 5})
	o := r.one(grid.KindOffer)
	if o.To != fastID {
		t.Fatalf("offered to %v, want the idle one", o.To.Short())
	}
	id := o.Msg.Offer.ID
	for len(r.sent(grid.KindPoll)) > 0 { // nobody else is idle
		r.answerAll(map[grid.NodeID]int64{fastID: 5, slowID: 5})
		if len(r.sent(grid.KindOffer)) > 0 {
			t.Fatal("offered to a busy node")
		}
	}
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.deliverFor(fastID, grid.KindResult, id, exitZero)
	polls := r.sent(grid.KindPoll)
	if len(polls) == 0 || polls[0].To != fastID {
		t.Fatalf("%v after a result: want a poll of its node", kindsOf(r.fx.Sends))
	}
	r.answerAll(map[grid.NodeID]int64{slowID: 5})
	if o := r.one(grid.KindOffer); o.To != fastID {
		t.Errorf("offered to %v", o.To.Short())
	}
}

// The task of a backup attempt runs already: its offer has no age and precedes nothing in the worker's queue.
func TestBackupAttemptHasNoAge(t *testing.T) {
	if _, _, second := withBackup(t, nil); second.Msg.Offer.Age != 0 {
		t.Errorf("it is offered with an age of %v", second.Msg.Offer.Age)
	}
}

// Regression: a task that kills its nodes, one attempt after the other so that one is always alive, ends as others do:
// after three nodes and the last attempt, or without that bound after as many lost backups as retries allow, and then
// the last attempt. It went on for ever.
func TestBackupsThatKillTheirNodesEnd(t *testing.T) {
	lost := &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: "restarted while it ran"}
	for _, c := range []struct {
		strikes, want int
		kind          grid.Kind
	}{{3, 4, grid.KindResult}, {3, 4, grid.KindRefuse}, {0, 8, grid.KindResult}, {0, 8, grid.KindRefuse}} {
		for _, newest := range []bool{false, true} {
			r, first, second := withBackup(t, func(cfg *Config) { cfg.Strikes = c.strikes })
			for i := range byte(20) {
				r.join(grid.NodeID{100 + i}, 1, "linux")
			}
			live := []grid.Send{first, second}
			losses := 0
			for r.task(jobID(1)).State != grid.Ended && losses <= c.want {
				if len(live) == 0 {
					r.pass(time.Minute, grid.TimerRetry, grid.TimerPoll)
				} else {
					at := 0
					if newest {
						at = len(live) - 1
					}
					s := live[at]
					live = append(live[:at], live[at+1:]...)
					r.deliverFor(s.To, c.kind, s.Msg.Offer.ID, lost)
					losses++
				}
				if len(live) == 0 && len(r.sent(grid.KindOffer)) == 0 {
					r.answerAll(nil)
				}
				for _, o := range append([]grid.Send(nil), r.sent(grid.KindOffer)...) {
					live = append(live, o)
					r.deliverFor(o.To, grid.KindAccept, o.Msg.Offer.ID, nil)
				}
			}
			if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Lost || losses != c.want {
				t.Errorf("%+v, newest %v: %v, %+v after %d losses", c, newest, v.State, v.Result, losses)
			}
		}
	}
}

// A node whose backup was lost has delivered nothing; a node that hands back a backup that never ran has lost nothing.
func TestTrackRecordFromBackups(t *testing.T) {
	r, first, _ := withBackup(t, nil)
	r.deliverFor(first.To, grid.KindResult, first.Msg.Offer.ID, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep})
	if s := r.n.peers.Record(first.To); s.Delivered() || s.ReturnRate(r.now) != 2.0/3 { // one lost, two credited
		t.Errorf("lost backup: track record %+v", s)
	}
	for _, why := range []grid.Why{grid.WhyStale, grid.WhyDrain, grid.WhyOverdue} {
		r, _, second := withBackup(t, nil)
		r.deliver(second.To, grid.KindRefuse, func(m *grid.Message) {
			m.Attempts, m.Refusal = []grid.AttemptID{second.Msg.Offer.ID}, grid.Refusal{Why: why}
		})
		if s := r.n.peers.Record(second.To); s.ReturnRate(r.now) != 1 || r.n.Stats(r.now).Lost != 0 {
			t.Errorf("%v: %d lost, track record %+v", why, r.n.Stats(r.now).Lost, s)
		}
	}
}

// A node counts as idle only in the step in which it delivers, and not when a later job comes: its newer state counts.
func TestEarlierDeliveryDoesNotMeanIdle(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.deliverFor(fastID, grid.KindResult, id, exitZero)
	ad := *r.n.gossip.Peer(fastID).Ad
	ad.Seq.N, ad.Backlog, ad.Free = 2, 5*time.Second, grid.Resources{}
	ad.Rates = []grid.Rate{{Class: grid.ClassOf(spec(nil)), Mu: 1}}
	r.deliver(fastID, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: &ad}} })
	r.submit(jobID(2), spec(func(s *grid.JobSpec) { s.Idempotent, s.Policy = true, "workqueue:2" }))
	r.answerAll(map[grid.NodeID]int64{fastID: 5})
	if v := r.task(jobID(2)); v.Worker != selfID {
		t.Fatalf("it runs at %v, want here", v.Worker.Short())
	}
	if v := r.task(jobID(2)); !v.Backup.IsZero() {
		t.Error("a busy node gets a backup attempt")
	}
}

package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// What the rules of a job do: see grid.Rules.

// Regression: a back-off lasts as long as its rule says, also if the wall clock is set back while the node is down. It
// began again each time, until the clock had caught up.
func TestBackoffAfterAClockSetBack(t *testing.T) {
	r := newRig(t, nil)
	id := jobID(1)
	r.submit(id, spec(func(s *grid.JobSpec) { s.Rules.OnFailure = grid.OnFailure{Retry: 1, Backoff: 20 * time.Second} }))
	if len(r.fx.Starts) != 1 {
		t.Fatalf("%d attempts start", len(r.fx.Starts))
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: r.fx.Starts[0].Attempt,
		Result: &grid.Result{Cause: grid.Exited, Exit: 1}})
	real := wall
	t.Cleanup(func() { wall = real })
	wall.Zero = wall.Zero.Add(-10 * time.Hour)
	r = r.restart()
	for end := r.now.Add(26 * time.Second); r.now < end && len(r.fx.Starts) == 0; {
		r.pass(time.Second)
	}
	if len(r.fx.Starts) != 1 {
		t.Errorf("%d attempts start within a quarter more than the back-off", len(r.fx.Starts))
	}
}

// A task whose failure no majority of the members has recorded says that it waits for that, and not that it runs.
func TestFailureThatNoMajorityRecordsSaysSo(t *testing.T) {
	r, id := takenOverAs(t, func(s *grid.JobSpec) {
		s.Policy, s.Rules.OnFailure = "local", grid.OnFailure{Retry: 1, Backoff: time.Second}
	})
	r.answerAsSlow(30*time.Second, func() bool { return len(r.fx.Starts) > 0 })
	if len(r.fx.Starts) != 1 {
		t.Fatalf("%d attempts start", len(r.fx.Starts))
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: r.fx.Starts[0].Attempt,
		Result: &grid.Result{Cause: grid.Exited, Exit: 3}})
	r.pass(time.Second)
	v, _ := r.n.Task(grid.TaskID{Job: id})
	if v.State != grid.Placed || v.Waits.Why != grid.WhyMajority || !strings.Contains(v.Waits.Detail, "failed with 3") {
		t.Errorf("it is %v, waits: %+v", v.State, v.Waits)
	}
	r.answerAsSlow(30*time.Second, func() bool { return len(r.fx.Starts) > 0 })
	if v, _ = r.n.Task(grid.TaskID{Job: id}); len(r.fx.Starts) != 1 || v.Waits.Why != grid.WhyNone {
		t.Errorf("a majority has it: %d attempts start, it waits: %+v", len(r.fx.Starts), v.Waits)
	}
}

// Regression: nothing of a job that was taken over is placed once it is cancelled, while its many tasks end in batches.
func TestNothingOfACancelledJobIsPlaced(t *testing.T) {
	r, id := takenOverAs(t, func(s *grid.JobSpec) {
		s.Count, s.Policy, s.Rules.MaxRunning = grid.MaxCount, "local", 1
	})
	r.answerAsSlow(30*time.Second, func() bool { return len(r.fx.Starts) > 0 })
	if r.placed(id) != 1 {
		t.Fatalf("%d tasks are placed", r.placed(id))
	}
	r.step(grid.Event{Kind: grid.EvCancel, Job: id})
	r.answerAsSlow(time.Minute, func() bool {
		v, _ := r.n.Job(id)
		return v.Pending == 0
	})
	attempts := 0
	for _, rec := range r.disk {
		if rec.Kind == grid.RecEntry && rec.Entry.ID.Attempt.N > 0 {
			attempts++
		}
	}
	if v, _ := r.n.Job(id); attempts != 1 || v.Pending > 0 {
		t.Errorf("%d attempts were made, want that before the cancel; %d tasks are pending", attempts, v.Pending)
	}
}

// answerAsSlow passes time while slowID answers, until something is done.
func (r *rig) answerAsSlow(most time.Duration, done func() bool) {
	r.t.Helper()
	for end := r.now.Add(most); r.now < end && !done(); r.pass(time.Second) {
		for _, s := range r.sentCopy() {
			if k := s.Msg.Kind; s.To == slowID && (k == grid.KindWrite || k == grid.KindKeepalive) {
				r.deliver(slowID, k+1, func(a *grid.Message) {
					a.Register = grid.RegisterMessage{Job: s.Msg.Register.Job, Epoch: s.Msg.Register.Epoch,
						Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}
				})
				if done() {
					return
				}
			}
		}
	}
}

// Regression: of a job whose policy places many tasks at once, no more are offered than may run, and the others are not
// set aside one by one: each would have a timer. When one has ended the next one follows.
func TestManyTasksPlacedTogetherAreBounded(t *testing.T) {
	for _, policy := range []string{"min_min", "dfpltf", "workqueue"} {
		r := newRig(t, func(c *Config) {
			c.MappingInterval = 20 * time.Second
			c.Labels = []grid.Label{{Key: "os", Value: "none"}}
		})
		for n := range byte(30) {
			r.join(grid.NodeID{2 + n}, 1, "linux")
		}
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			s.Count, s.Policy, s.Rules.MaxRunning = 200, policy, 2
			s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
		}))
		var open []grid.Send
		ended := 0
		for range 200 {
			if len(r.sent(grid.KindPoll)) > 0 {
				r.answerAll(nil)
			}
			open = append(open, r.sent(grid.KindOffer)...)
			pauses := 0
			for _, w := range r.wakes {
				if w.Timer.Kind == grid.TimerRetry {
					pauses++
				}
			}
			if r.placed(jobID(1)) > 2 || pauses > 20 {
				t.Fatalf("%s: %d tasks of 2 are placed, %d timers of tasks that wait", policy, r.placed(jobID(1)), pauses)
			}
			if len(open) == 0 {
				r.pass(time.Second)
				continue
			}
			o := open[0]
			open = open[1:]
			r.deliverFor(o.To, grid.KindAccept, o.Msg.Offer.ID, nil)
			open = append(open, r.sent(grid.KindOffer)...)
			r.deliverFor(o.To, grid.KindResult, o.Msg.Offer.ID, &grid.Result{Cause: grid.Exited})
			ended++
		}
		if v, _ := r.n.Job(jobID(1)); v.Ended != ended || ended < 5 {
			t.Errorf("%s: %d tasks have ended, %d did: want at least 5", policy, v.Ended, ended)
		}
	}
}

// Regression: the end of a task frees the cores for the next one of its job, and as the first of MaxFailures it ends
// the job, all in one step. The driver was told to start that one and to stop it; it stops before it starts, so the
// task ran on without a record, and its cores were taken.
func TestWhatAStepStartsAndStopsIsNotStarted(t *testing.T) {
	r := newRig(t, nil)
	id := jobID(1)
	r.submit(id, spec(func(s *grid.JobSpec) { s.Count, s.Rules.MaxFailures = 3, 1 }))
	r.end(id, 0, &grid.Result{Cause: grid.Exited, Exit: 1})
	if v, _ := r.n.Job(id); v.Ended != 3 || len(r.running(id)) > 0 {
		t.Fatalf("%d of 3 tasks have ended, and %v run", v.Ended, r.running(id))
	}
	if len(r.fx.Starts) > 0 {
		t.Errorf("it starts %v, and stops %v", r.fx.Starts[0].Attempt, r.fx.Stops)
	}
	for _, rec := range r.disk {
		if rec.Kind == grid.RecWork {
			t.Errorf("it keeps the record of %v", rec.Work.ID)
		}
	}
	if r.submit(jobID(2), spec(nil)); len(r.fx.Starts) != 1 {
		t.Errorf("of the next job %d tasks start, want one: the cores are free", len(r.fx.Starts))
	}
}

// Regression: a disk that stalled kept a start until its start lease had expired. The time counted as used, and the
// job's budget was exhausted by an attempt that had not begun.
func TestAStartThatCameTooLateHasUsedNothing(t *testing.T) {
	r := newRig(t, nil)
	id := jobID(1)
	r.submit(id, spec(func(s *grid.JobSpec) { s.Rules.Budget = 10 }))
	r.now = r.now.Add(9 * time.Second)
	r.step(grid.Event{Kind: grid.EvLate, Attempt: r.task(id).ID})
	r.pass(5 * time.Second)
	if v := r.task(id); v.State != grid.Placed {
		t.Fatalf("after 5 of 10 seconds it is %v: %+v", v.State, v.Result)
	}
	for end := r.now.Add(8 * time.Second); r.now < end; {
		r.pass(time.Second)
	}
	if v := r.task(id); v.Result == nil || v.Result.Cause != grid.Unaffordable {
		t.Errorf("after 13 of 10 seconds it is %v: %+v", v.State, v.Result)
	}

	r = newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.step(grid.Event{Kind: grid.EvLate, Attempt: foreignAttempt(1)})
	if m := r.one(grid.KindBeat); m.To != fastID || len(m.Msg.Reports) != 1 || !m.Msg.Reports[0].Queued {
		t.Errorf("its owner is told %+v: want that it waits", m.Msg)
	}
}

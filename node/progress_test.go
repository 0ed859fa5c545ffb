package node

import (
	"testing"
	"time"

	"skep/grid"
)

// says has an attempt that runs here say something.
func (r *rig) says(id grid.AttemptID, done float64) {
	r.step(grid.Event{Kind: grid.EvProgress, Attempt: id,
		OfAttempt: grid.OfAttempt{Progress: &grid.Progress{Done: done, Total: 10}}})
}

// What a task says goes to its owner with the next beat, and causes no message of its own. Only the owner is told.
func TestProgressRidesOnBeats(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	if m := r.one(grid.KindAccept); !m.Msg.Started {
		t.Error("the acceptance does not say that the attempt has started")
	}
	r.offer(fastID, foreignAttempt(2), spec(nil))
	if m := r.one(grid.KindAccept); m.Msg.Started {
		t.Error("the acceptance says that an attempt has started that waits")
	}
	r.says(foreignAttempt(1), 3)
	r.says(foreignAttempt(2), 4) // it does not run
	r.says(foreignAttempt(3), 5) // it is not here
	if len(r.fx.Sends)+len(r.fx.Saves)+len(r.fx.Wakes) > 0 {
		t.Errorf("it is sent at once: %+v", r.fx.Sends)
	}
	r.pass(2*time.Second, grid.TimerBeat)
	b := r.one(grid.KindBeat)
	if b.To != fastID || len(b.Msg.Reports) != 1 || b.Msg.Reports[0].Progress.Done != 3 {
		t.Errorf("beat to %v with %+v: want what the one that runs has said, to its owner", b.To.Short(), b.Msg.Reports)
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(1), Result: exitZero})
	r.says(foreignAttempt(1), 6)
	r.pass(2*time.Second, grid.TimerBeat)
	for _, b := range r.sent(grid.KindBeat) {
		if len(b.Msg.Reports) > 0 {
			t.Errorf("after its end: %+v", b.Msg.Reports)
		}
	}
}

// An owner shows what the worker of an attempt says of it, and tells what waits there from what runs.
func TestOwnerShowsWhatRuns(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	id := r.offered(jobID(1), spec(nil), slowID)
	check := func(what string, runs bool, done float64) {
		t.Helper()
		v, said := r.task(jobID(1)), 0.0
		if v.Said != nil {
			said = v.Said.Done
		}
		j, _ := r.n.Job(jobID(1))
		if v.Runs != runs || j.Running == 1 != runs || said != done {
			t.Errorf("%s: runs %v, %d of the job run, said %v: want %v and %v", what, v.Runs, j.Running, said, runs, done)
		}
	}
	report := func(from grid.NodeID, at grid.AttemptID, done float64) {
		r.deliver(from, grid.KindBeat, func(m *grid.Message) {
			m.Attempts = []grid.AttemptID{at}
			m.Reports = []grid.Report{{Said: true, Progress: grid.Progress{Done: done, Total: 10}}}
		})
		r.pass(time.Second)
	}
	check("offered", false, 0)
	r.deliverFor(slowID, grid.KindAccept, id, nil)
	check("accepted", false, 0)
	r.deliverFor(slowID, grid.KindStartLease, id, nil)
	check("queued there", false, 0)
	report(fastID, id, 7)
	check("what another node says", false, 0)
	report(slowID, id, 3)
	check("what its worker says", true, 3)
	old := id
	old.N++
	report(slowID, old, 8)
	check("what its worker says of another attempt", true, 3)
	r.deliverFor(slowID, grid.KindResult, id, exitZero)
	check("ended", false, 0)
}

// What runs at its owner is told apart at once, without a message.
func TestOwnTasksAreToldApart(t *testing.T) {
	r := newRig(t, nil)
	s := spec(nil)
	s.Count = 3
	r.submit(jobID(1), s)
	running := func() int { j, _ := r.n.Job(jobID(1)); return j.Running }
	starts := len(r.fx.Starts)
	if starts == 0 || running() != starts {
		t.Fatalf("%d started, %d run", starts, running())
	}
	first := r.fx.Starts[0].Attempt
	r.says(first, 3)
	if v := r.task(jobID(1)); v.Said == nil || v.Said.Done != 3 || len(r.fx.Sends) > 0 {
		t.Errorf("said %+v, sent %+v: want it shown and nothing sent", v.Said, r.fx.Sends)
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: first, Result: exitZero})
	if len(r.fx.Starts) != 1 || running() != starts {
		t.Errorf("after one ended and %d started, %d run: want %d", len(r.fx.Starts), running(), starts)
	}
}

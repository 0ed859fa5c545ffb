package node

import (
	"testing"
	"time"

	"skep/grid"
)

// wideRuns teaches this node that tasks of the class "x" take so long, and connects two nodes for them.
func wideRuns(t *testing.T, run time.Duration, cores float64) *rig {
	r := newRig(t, func(c *Config) {
		c.Labels, c.Order.MaxBid = []grid.Label{{Key: "os", Value: "none"}}, grid.MaxBid
	})
	joinWide(r, fastID, cores, cores)
	joinWide(r, slowID, cores, cores)
	for k := range byte(4) {
		r.submit(jobID(10+k), spec(func(s *grid.JobSpec) { s.Class = "x"; elsewhere(s) }))
		r.answerAll(nil)
		o := r.one(grid.KindOffer)
		r.deliverFor(o.To, grid.KindAccept, o.Msg.Offer.ID, nil)
		r.now = r.now.Add(run)
		r.deliverFor(o.To, grid.KindResult, o.Msg.Offer.ID, &grid.Result{Cause: grid.Exited, Wall: run})
	}
	return r
}

// answerOptions answers the polls of the last step: what each node says of each option.
func answerOptions(r *rig, options ...grid.OptionState) {
	r.t.Helper()
	for _, p := range r.sentCopy() {
		if p.Msg.Kind == grid.KindPoll {
			id := p.Msg.Poll.ID
			r.deliver(p.To, grid.KindState, func(m *grid.Message) {
				m.State = grid.State{ID: id, Speed: 1, Cores: 8 * grid.CPU, Mine: 1, Options: options}
			})
		}
	}
}

// A copy of a task runs only if its job's budget pays for it as the option that the copy would run as: a job that its
// budget pays for once is not cancelled for a copy that could be cheaper as an option that fits nowhere.
func TestCopiesArePaidForAsTheOptionTheyRunAs(t *testing.T) {
	for _, c := range []struct {
		budget time.Duration
		copies bool
	}{{70 * time.Second, false}, {130 * time.Second, true}} {
		r := wideRuns(t, time.Minute, 2)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			s.Class, s.Idempotent, s.Count, s.Retries = "x", true, 1, 3
			elsewhere(s)
			s.Rules.Reliability, s.Rules.Budget = grid.ReliabilityReplicate, grid.Budget(c.budget.Seconds())
			ways(way(8, 20, 1), way(2, 1, 1))(s)
		}))
		answerOptions(r, grid.OptionState{Why: grid.WhyCPU}, grid.OptionState{ECT: time.Minute})
		o := r.one(grid.KindOffer)
		id := o.Msg.Offer.ID
		r.deliverFor(o.To, grid.KindAccept, id, nil)
		if n := len(r.sent(grid.KindOffer)); n != 0 != c.copies {
			t.Fatalf("budget %v, a run takes 60 s: %d copies, want some = %t", c.budget, n, c.copies)
		}
		if c.copies {
			continue
		}
		for range 60 {
			r.deliver(o.To, grid.KindBeat, func(m *grid.Message) { m.Attempts = []grid.AttemptID{id} })
			r.pass(time.Second)
		}
		r.deliverFor(o.To, grid.KindResult, id, &grid.Result{Cause: grid.Exited, Wall: time.Minute})
		if v := r.task(jobID(1)); v.State != grid.Ended || !v.Result.Succeeded() {
			t.Errorf("task %v, result %+v: want success within the budget", v.State, v.Result)
		}
	}
}

// A task is not offered as an option that its job's budget does not pay for. It is as soon as one can be had that the
// budget pays for, and says until then what it waits for.
func TestTasksWaitForAnOptionThatTheBudgetPaysFor(t *testing.T) {
	r := wideRuns(t, time.Minute, 8)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Class = "x"
		elsewhere(s)
		s.Rules.Budget = 40
		ways(way(8, 20, 1), way(2, 1, 1))(s)
	}))
	answerOptions(r, grid.OptionState{Why: grid.WhyQueue}, grid.OptionState{ECT: time.Minute})
	if n := len(r.sent(grid.KindOffer)); n != 0 {
		t.Fatalf("%d offers as an option that takes 60 s of a budget of 40 s", n)
	}
	v := r.task(jobID(1))
	if w := v.Waits; v.State != grid.Pending || w.Why != grid.WhyBudget {
		t.Fatalf("task %v, waits for %v: want it to wait for its budget", v.State, w)
	}
	for range 20 {
		if r.pass(time.Second); len(r.sent(grid.KindPoll)) > 0 {
			break
		}
	}
	answerOptions(r, grid.OptionState{ECT: 3 * time.Second}, grid.OptionState{ECT: time.Minute})
	if o := r.one(grid.KindOffer); o.Msg.Offer.Option != 1 {
		t.Errorf("offered as option %d, want 1, which takes 3 s", o.Msg.Offer.Option)
	}
}

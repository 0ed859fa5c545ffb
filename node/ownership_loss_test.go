package node

import (
	"testing"
	"time"

	"skep/grid"
)

// loseMajority makes the owner of the replicated job, with one running and one waiting attempt, lose its quorum lease
// and the running one end: the waiting one may not start.
func (r *rig) loseMajority() {
	r.t.Helper()
	for end := r.now.Add(2 * r.cfg.Lease); r.now < end; {
		r.pass(time.Second)
	}
	for _, w := range r.n.worker.Exec().Running() {
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: w.ID, Result: exitZero})
	}
	if len(r.fx.Starts) > 0 || r.n.Gauges().AwaitingMajority != 1 {
		r.t.Fatalf("without a majority %d start, and %d jobs wait for one", len(r.fx.Starts), r.n.Gauges().AwaitingMajority)
	}
}

// What waits for a majority is dropped with the ownership: the next owner lets it start, and no answer that comes here
// does.
func TestFormerOwnerAwaitsNoMajority(t *testing.T) {
	for name, succeeds := range map[string]func(*rig){
		"another owner writes": func(r *rig) {
			r.deliver(slowID, grid.KindWrite,
				func(m *grid.Message) { m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 99, Seq: 1} })
		},
		"another epoch gets its vote": func(r *rig) { r.asksVote(slowID, 99) },
		"the job is over": func(r *rig) {
			r.deliver(slowID, grid.KindWrite, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 99, Seq: 1, Done: true}
			})
		},
	} {
		r := newMember(t)
		r.takeOver()
		r.loseMajority()
		x := r.replica(replicatedJob)
		if succeeds(r); x.IsOwner() {
			t.Fatalf("%s: it is the owner still", name)
		}
		r.pass(r.cfg.Lease/2, grid.TimerRegister)
		if r.n.Gauges().AwaitingMajority > 0 {
			t.Errorf("%s: %d jobs wait for a majority still", name, r.n.Gauges().AwaitingMajority)
		}
	}
}

// A node that becomes owner again resumes what waited when a majority answers it, as the first time.
func TestOwnerAgainResumesWaitingWork(t *testing.T) {
	r := newMember(t)
	r.takeOver()
	r.loseMajority()
	r.asksVote(slowID, 99) // a campaign that fails
	r.pass(r.cfg.Lease/2, grid.TimerRegister)
	r.takeOver()
	r.acceptAsSlow() // the end of the first task
	for end := r.now.Add(2 * r.cfg.Lease); len(r.fx.Starts) == 0; r.pass(100 * time.Millisecond) {
		if r.now > end {
			t.Fatal("what waits does not start")
		}
	}
}

// The grace entries of jobs taken over at once are freed when their takeover grace is over.
func TestGraceEntriesAreFreed(t *testing.T) {
	r := newMember(t)
	r.takeOver()
	if g := r.n.Gauges(); g.InGrace != 1 {
		t.Fatalf("%d jobs in takeover grace, want 1", g.InGrace)
	}
	for end := r.now.Add(2 * r.cfg.Lease); r.now < end; {
		r.pass(time.Second)
	}
	if g := r.n.Gauges(); g.InGrace > 0 {
		t.Errorf("%d jobs in takeover grace", g.InGrace)
	}
}

// The caller of a cancellation is told when another node takes the job over before it was committed. Then no barrier
// remains, and the workers are not asked.
func TestTakenOverJobIsNotCancelled(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members = 3 })
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "linux")
	id := jobID(1)
	r.submit(id, spec(nil))
	for _, s := range r.sent(grid.KindKeepalive) {
		r.deliver(s.To, grid.KindKeepaliveAck, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}
		})
	}
	if x := r.replica(id); x == nil || !x.IsOwner() {
		t.Fatal("it does not own the job")
	}
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 7, Job: id})
	if len(r.fx.Replies) > 0 || r.n.Gauges().Barriers != 1 {
		t.Fatalf("before a majority knows: replies %v, %d jobs", r.fx.Replies, r.n.Gauges().Barriers)
	}
	r.deliver(slowID, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: id, Epoch: 2, Seq: 1}
	})
	if p := r.fx.Replies; len(p) == 0 || p[0].Caller != 7 || p[0].Err == "" {
		t.Errorf("replies %+v, want that another node has it", p)
	}
	if r.n.Gauges().Barriers > 0 {
		t.Errorf("%d cancelled jobs are looked at", r.n.Gauges().Barriers)
	}
}

// A committed cancellation holds whoever owns the job next: callers that wait behind the barrier are answered.
func TestCommittedCancelIsAnsweredByFormerOwner(t *testing.T) {
	r := newMember(t)
	r.takeOver()
	r.step(grid.Event{Kind: grid.EvCancel, Caller: 7, Job: replicatedJob})
	r.acceptAsSlow()
	if len(r.fx.Replies) > 0 {
		t.Fatalf("replies %+v at once, while what earlier owners let start may run", r.fx.Replies)
	}
	if _, final := r.replica(replicatedJob).Cancelled(); !final {
		t.Fatal("the cancellation is not final")
	}
	r.deliver(slowID, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 99, Seq: 1}
	})
	for end := r.now.Add(2 * r.cfg.Lease); r.now < end; r.pass(100 * time.Millisecond) {
		for _, p := range r.fx.Replies {
			if p.Caller == 7 && p.Err == "" {
				return
			}
		}
	}
	t.Error("it is never answered")
}

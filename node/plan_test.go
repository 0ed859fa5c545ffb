package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// beginsProvisional submits a job with three members and returns when the others have been written to and have not
// answered. self and fast have the given system, slow another.
func beginsProvisional(t *testing.T, change func(*grid.JobSpec)) *rig {
	t.Helper()
	r := newRig(t, func(c *Config) { c.Members = 3 })
	r.beginProvisional(change)
	return r
}

func (r *rig) beginProvisional(change func(*grid.JobSpec)) {
	r.t.Helper()
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "bsd")
	r.submit(jobID(1), spec(change))
	for _, s := range slices.Clone(r.sent(grid.KindKeepalive)) {
		r.deliver(s.To, grid.KindKeepaliveAck, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}
		})
	}
	if len(r.sent(grid.KindWrite)) != 2 {
		r.t.Fatalf("the members are not written to: %v", kindsOf(r.fx.Sends))
	}
}

// majority makes the fast member accept the job's first write.
func (r *rig) majority(seq uint64) {
	r.t.Helper()
	r.deliver(fastID, grid.KindWriteAck, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: 1, Seq: seq, Answer: grid.RegisterOK}
	})
	if len(r.fx.Replies) != 1 {
		r.t.Fatal("a majority has the job, and its submitter is not answered")
	}
}

func (r *rig) toFast() uint64 {
	for _, s := range r.sent(grid.KindWrite) {
		if s.To == fastID {
			return s.Msg.Register.Seq
		}
	}
	r.t.Fatal("the fast member is not written to")
	return 0
}

func on(os string, retries int32) func(*grid.JobSpec) {
	return func(s *grid.JobSpec) {
		s.Retries = retries
		if os != "" {
			s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{os}}}
		}
	}
}

// attempts lists the attempts of the job's task on disk; at most one.
func (r *rig) attempts() (ids []grid.Attempt) {
	for _, rec := range r.disk {
		if rec.Kind == grid.RecEntry && rec.Entry.State == grid.Offered {
			ids = append(ids, rec.Entry.ID.Attempt)
		}
	}
	return ids
}

// While a job awaits its first majority, the attempt is made and saved; its offer leaves when a majority has the job,
// and waits for no further disk write.
func TestPlannedOfferWaitsOnlyForMajority(t *testing.T) {
	for _, os := range []string{"bsd", ""} {
		r := beginsProvisional(t, on(os, 2))
		seq, to := r.toFast(), slowID
		if os == "" {
			to = fastID
			r.answer(to)
		}
		if len(r.attempts()) != 1 || len(r.sent(grid.KindOffer)) != 0 {
			t.Fatalf("%q: %d attempts on disk, sent %v", os, len(r.attempts()), kindsOf(r.fx.Sends))
		}
		r.majority(seq)
		if o := r.one(grid.KindOffer); o.To != to || !slices.Contains(r.attempts(), o.Msg.Offer.ID.Attempt) ||
			len(r.fx.Saves) != 0 {
			t.Errorf("%q: offered to %s, with %d records to save before", os, o.To.Short(), len(r.fx.Saves))
		}
	}
}

// An attempt here starts when a majority has the job.
func TestPlannedStartWaitsForMajority(t *testing.T) {
	r := beginsProvisional(t, on("linux", 2))
	seq := r.toFast()
	for _, s := range slices.Clone(r.sent(grid.KindPoll)) {
		r.deliver(s.To, grid.KindState, func(m *grid.Message) { m.State = grid.State{ID: s.Msg.Poll.ID, Why: grid.WhyQueue} })
	}
	if len(r.fx.Starts) != 0 {
		t.Fatal("it starts before a majority has the job")
	}
	if r.majority(seq); len(r.fx.Starts) != 1 {
		t.Errorf("%d starts when a majority has the job: %v", len(r.fx.Starts), r.task(jobID(1)).Traces)
	}
}

// A worker that is gone when the majority has answered never heard of the attempt; the task waits for another one, and
// nothing was lost.
func TestPlannedWorkerLeaves(t *testing.T) {
	r := beginsProvisional(t, on("bsd", 2))
	seq := r.toFast()
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: slowID})
	r.majority(seq)
	if len(r.sent(grid.KindOffer)) != 0 || len(r.attempts()) != 0 || r.task(jobID(1)).Lost != 0 {
		t.Errorf("sent %v, %d attempts on disk, %d lost", kindsOf(r.fx.Sends), len(r.attempts()), r.task(jobID(1)).Lost)
	}
	r.want(jobID(1), grid.Pending)
}

// A task without retries has no attempt on disk that might never be offered: after a restart it would be lost.
func TestAtMostOnceIsNotPlanned(t *testing.T) {
	r := beginsProvisional(t, on("bsd", 0))
	seq := r.toFast()
	if len(r.attempts()) != 0 {
		t.Fatal("an attempt is on disk before a majority has the job")
	}
	r.majority(seq)
	if r.one(grid.KindOffer); len(r.attempts()) != 1 {
		t.Error("an offer without an attempt on disk")
	}
}

// A restarted origin's planned attempt was never offered; the task is offered under another number.
func TestPlannedAttemptAfterRestart(t *testing.T) {
	r := beginsProvisional(t, on("bsd", 2)).restart()
	r.join(slowID, 1, "bsd")
	about := grid.AttemptID{Task: grid.TaskID{Job: jobID(1)}, Attempt: r.attempts()[0]}
	r.join(fastID, 10, "linux")
	for len(r.sent(grid.KindWrite)) == 0 {
		r.pass(r.cfg.Lease)
	}
	seq := r.toFast()
	r.deliver(fastID, grid.KindWriteAck, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: 1, Seq: seq, Answer: grid.RegisterOK}
	})
	r.deliver(slowID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal.Why = []grid.AttemptID{about}, grid.WhyLost
	})
	if o := r.one(grid.KindOffer); o.To != slowID || o.Msg.Offer.ID.Attempt == about.Attempt {
		t.Errorf("attempt %v is offered, and %v was on disk", o.Msg.Offer.ID.Attempt, about.Attempt)
	}
}

// An attempt that waits for a majority was never sent: however long that takes, its worker is not late with it, and
// gets other work.
func TestPlannedAttemptIsNotLate(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members = 3 })
	r.n.Restore(&grid.Record{Kind: grid.RecClass, Class: grid.ClassRecord{Class: "process:true", Mean: 1, Count: 20}})
	r.beginProvisional(on("bsd", 2))
	for end := r.now.Add(time.Minute); r.now < end; {
		r.pass(time.Minute)
	}
	if len(r.attempts()) != 1 || len(r.sent(grid.KindOffer)) != 0 {
		t.Fatalf("%d attempts on disk, sent %v", len(r.attempts()), kindsOf(r.fx.Sends))
	}
	if rec := r.n.peers.Record(slowID); rec.Late(r.now) || rec.OnProbation(r.now, grid.CPU) {
		t.Error("the worker is late with an attempt that it was never offered")
	}
}

// Planned attempts count against a node's probation limit when many jobs are submitted at once.
func TestPlannedCountsAsGiven(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members = 3 })
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "bsd")
	const most = 8 // attempts that a node of one core gets before it has delivered
	for i := range byte(3 * most) {
		r.submit(jobID(i), spec(on("bsd", 2)))
		for _, s := range slices.Clone(r.sent(grid.KindKeepalive)) {
			r.deliver(s.To, grid.KindKeepaliveAck, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}
			})
		}
	}
	if k := len(r.attempts()); k != most {
		t.Errorf("%d attempts of %d jobs are to go to a node that has delivered nothing: want %d", k, 3*most, most)
	}
}

// A job that another node has owned meanwhile is no longer new: nothing of it is placed before a majority has answered.
func TestNothingIsPlannedOfAJobThatWasTakenOver(t *testing.T) {
	r := beginsProvisional(t, on("", 2))
	r.deliver(fastID, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: 2, Seq: 1}
	})
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	for end := r.now.Add(time.Minute); len(r.sent(grid.KindCampaign)) == 0; r.pass(time.Second) {
		if r.now > end {
			t.Fatal("it never campaigns again")
		}
	}
	epoch := r.sent(grid.KindCampaign)[0].Msg.Register.Epoch
	r.deliver(slowID, grid.KindVote, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: epoch, Answer: grid.RegisterOK, Owner: fastID, Next: 2}
	})
	claimed := grid.AttemptID{Task: grid.TaskID{Job: jobID(1)}, Attempt: grid.Attempt{Epoch: 2, N: 1}}
	r.deliverFor(slowID, grid.KindBeat, claimed, nil)
	if r.want(jobID(1), grid.Placed); r.task(jobID(1)).Worker != slowID {
		t.Fatal("the attempt that a worker claims is not adopted")
	}
	r.deliver(slowID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal.Why = []grid.AttemptID{claimed}, grid.WhyOverdue
	})
	r.want(jobID(1), grid.Pending)
}

// A worker may know of a planned attempt, as a member of the job's register, and send a result of it: the attempt is
// over then. It was offered all the same when the majority had answered.
func TestPlannedAttemptEndsBeforeItsOffer(t *testing.T) {
	r := beginsProvisional(t, on("bsd", 2))
	seq := r.toFast()
	id := r.task(jobID(1)).ID
	r.deliverFor(slowID, grid.KindResult, id, &grid.Result{Cause: grid.CannotExecute, Exit: grid.ExitCannotExecute})
	r.majority(seq)
	for end := r.now.Add(time.Minute); r.now < end; r.pass(time.Second) {
		for _, s := range r.sent(grid.KindOffer) {
			if s.Msg.Offer.ID == id {
				t.Fatalf("it is offered to %s while the task is %v", s.To.Short(), r.task(jobID(1)).State)
			}
		}
	}
}

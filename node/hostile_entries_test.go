package node

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Entries of a register that no owner that follows the job's rules has written.

// failedEnd is the entry of a failed end of task 0, after which the task goes on.
func failedEnd(change func(*grid.Entry)) grid.Entry {
	e := grid.Entry{Epoch: 1, Attempt: grid.Attempt{Epoch: 1, N: 1}, Worker: fastID, Again: time.Second,
		Result: &grid.Result{Cause: grid.Exited, Exit: 1}}
	if change != nil {
		change(&e)
	}
	return e
}

// impossibleEntries are entries of a job of one task that is retried that often.
var impossibleEntries = []struct {
	what  string
	retry int32
	e     grid.Entry
}{
	{"the cancellation goes on", 2, failedEnd(func(e *grid.Entry) { e.Index = 1 })},
	{"the cancellation has a round", 2, grid.Entry{Index: 1, Epoch: 1, Round: 1}},
	{"there is no retry", 0, failedEnd(nil)},
	{"there is no retry, and it has ended", 0, failedEnd(func(e *grid.Entry) { e.Again, e.Round = 0, 1 })},
	{"the last failure goes on", 2, failedEnd(func(e *grid.Entry) { e.Round = 2 })},
	{"one failure too many", 2, failedEnd(func(e *grid.Entry) { e.Again, e.Round = 0, 3 })},
	{"more failures than rounds", 2, failedEnd(func(e *grid.Entry) { e.Failures = make([]grid.Failure, 1) })},
	{"an attempt of an epoch to come", 2, failedEnd(func(e *grid.Entry) { e.Attempt.Epoch = 9 })},
}

func retriedSpec(retry int32) *grid.JobSpec {
	return spec(func(s *grid.JobSpec) { s.Rules.OnFailure.Retry = retry })
}

// Regression: an entry that cannot be is refused when it is written. One about the cancellation was saved as a record
// that the store refuses, which ended the process.
func TestImpossibleEntriesAreNotWritten(t *testing.T) {
	for _, c := range impossibleEntries {
		r := newRig(t, nil)
		id := numbered(fastID, 1)
		a := r.writeFrom(fastID, id, retriedSpec(c.retry), func(g *grid.RegisterMessage) {
			g.Entries = []grid.Entry{c.e}
		})
		if a != grid.RegisterUnknown || r.records(grid.RecEntry) != 0 {
			t.Errorf("%s: answered with %v, %d records", c.what, a, r.records(grid.RecEntry))
		}
		r.wantEncodable()
	}
	r := newRig(t, nil)
	for _, e := range []grid.Entry{failedEnd(func(e *grid.Entry) { e.Round = 1 }), failedEnd(func(e *grid.Entry) {
		e.Again, e.Round = 0, 2
	})} {
		if a := r.writeFrom(fastID, numbered(fastID, 1), retriedSpec(2), func(g *grid.RegisterMessage) {
			g.Entries = []grid.Entry{e}
		}); a != grid.RegisterOK {
			t.Errorf("round %d of a task that is retried twice: answered with %v", e.Round, a)
		}
	}
	r.wantEncodable()
}

// wantEncodable checks that the store takes the records.
func (r *rig) wantEncodable() {
	r.t.Helper()
	for key, rec := range r.disk {
		if _, _, err := wire.AppendRecord(nil, &rec); err != nil {
			r.t.Errorf("%s: %v", key, err)
		}
	}
}

// Regression: such an entry is not taken over with a vote either.
func TestImpossibleEntriesAreNotVotedFor(t *testing.T) {
	for _, c := range impossibleEntries {
		r := newRig(t, nil)
		r.now = 3600e9
		r.join(fastID, 1, "linux")
		id := numbered(fastID, 1)
		r.writeFrom(fastID, id, retriedSpec(c.retry), nil)
		for end := r.now.Add(time.Minute); r.replica(id).CampaignEpoch() == 0 && r.now < end; {
			r.pass(time.Second)
		}
		reg := r.replica(id)
		r.deliver(fastID, grid.KindVote, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: id, Epoch: reg.CampaignEpoch(), Answer: grid.RegisterOK, Next: 2,
				Entries: []grid.Entry{c.e}}
		})
		if v, _ := reg.Value(c.e.Index); v != nil || reg.IsOwner() {
			t.Errorf("%s: the entry is %v, owner %v", c.what, v, reg.IsOwner())
		}
	}
}

// Regression: a node that has such an entry on disk starts, takes the job over and ends its task. It ended with "rounds
// follow each other" at the end of the next attempt, and after each restart again.
func TestImpossibleEntriesOnDisk(t *testing.T) {
	for _, c := range impossibleEntries {
		r := newRig(t, nil)
		r.now = 3600e9
		r.join(slowID, 1, "bsd")
		id := numbered(fastID, 1)
		s := retriedSpec(c.retry)
		r.writeFrom(fastID, id, s, func(g *grid.RegisterMessage) { g.Members = []grid.NodeID{fastID, selfID, slowID} })
		if c.e.Open() {
			e := c.e
			task := grid.TaskID{Job: id, Index: e.Index}
			r.disk["entry "+task.String()] = grid.Record{Kind: grid.RecEntry, Entry: grid.EntryRecord{Open: &e,
				TaskRecord: grid.TaskRecord{ID: grid.AttemptID{Task: task}, State: grid.Pending}}}
		}
		r = r.restart()
		r.join(slowID, 1, "bsd")
		for end := r.now.Add(3 * time.Minute); r.now < end && len(r.fx.Starts) == 0; {
			for _, m := range r.sentCopy() {
				if m.Msg.Kind == grid.KindCampaign {
					r.deliver(slowID, grid.KindVote, func(a *grid.Message) {
						a.Register = grid.RegisterMessage{Job: id, Epoch: m.Msg.Register.Epoch, Answer: grid.RegisterOK, Next: 2}
					})
				}
			}
			r.answerAsPeers()
			if len(r.fx.Starts) == 0 {
				r.pass(100 * time.Millisecond)
			}
		}
		if len(r.fx.Starts) == 0 {
			t.Errorf("%s: the task does not start", c.what)
			continue
		}
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: r.fx.Starts[0].Attempt, Result: &grid.Result{Cause: grid.Exited}})
		r.runWithPeers(time.Second, nil)
		r.wantEncodable()
		if v, _ := r.n.Job(id); v.Ended != 1 {
			t.Errorf("%s: %d tasks have ended, want 1", c.what, v.Ended)
		}
	}
}

package sim

import (
	"time"

	"skep/grid"
	"skep/sim/oracle"
)

// facts is what the oracle may ask of a world.
type facts World

func (f *facts) Time() grid.Time                      { return f.now }
func (f *facts) Clock(i int32) grid.Time              { return (*World)(f).local(i) }
func (f *facts) ID(i int32) grid.NodeID               { return f.hosts[i].id }
func (f *facts) Index(id grid.NodeID) int32           { return (*World)(f).index(id) }
func (f *facts) JobID(n int32) grid.JobID             { return (*World)(f).jobID(n) }
func (f *facts) HasBlob(i int32, id grid.BlobID) bool { return (*World)(f).hasBlob(i, id) }
func (f *facts) Fail(i int32, what string)            { (*World)(f).failf(i, "%s", what) }

// openBooks makes the oracle's books for the workload.
func (w *World) openBooks() {
	work := make([]oracle.Submission, len(w.cfg.Work))
	for i, s := range w.cfg.Work {
		work[i] = oracle.Submission{Origin: s.Node, Spec: s.Spec}
	}
	w.books = oracle.New((*facts)(w), len(w.hosts), work)
	if w.cfg.Check == CheckNothing {
		w.books.Uncheck()
	}
}

// done reports whether all submissions and faults have happened and everything that must end has ended.
func (w *World) done() bool {
	if !w.settled {
		if w.nextSubmission < len(w.cfg.Work) || w.nextFault < len(w.cfg.Faults) || w.leaving > 0 {
			return false
		}
		w.settled, w.deadline = true, w.now.Add(w.cfg.Bound)
		w.books.Settle()
	}
	if w.books.Done() {
		return true
	}
	if w.now > w.deadline {
		w.failf(-1, "%v after the last fault and submission %s", w.cfg.Bound, w.books.Unfinished())
		return true
	}
	return false
}

// audit checks the final state of every node.
func (w *World) audit() {
	for i := range w.hosts {
		if h := &w.hosts[i]; h.up && h.hostile == 0 {
			w.books.Audit(int32(i))
		}
	}
}

// restore gives a new run the node's durable records in random order.
func (w *World) restore(i int32) {
	records := w.books.Records(i, nil)
	w.rng.Shuffle(len(records), func(a, b int) { records[a], records[b] = records[b], records[a] })
	for k := range records {
		if !w.cfg.NoDigest {
			w.digest.record(&records[k])
		}
		w.hosts[i].member.Restore(&records[k])
	}
}

// Outcome is the durable state of a task.
type Outcome struct {
	State   grid.TaskState // 0 = nothing yet
	Attempt grid.Attempt
	Worker  int // index; −1 = none
	Starts  int // started processes of all attempts, without refused ones
	Result  *grid.Result
	Ended   time.Duration // since the world began
}

// Outcome returns the durable state of a task at its origin, or of its register.
func (w *World) Outcome(submission, index int) Outcome {
	t := w.books.Task(submission, index)
	return Outcome{State: t.State, Attempt: t.Attempt, Worker: int(t.Worker), Starts: int(t.Starts),
		Result: t.Result.Result(), Ended: time.Duration(t.Ended)}
}

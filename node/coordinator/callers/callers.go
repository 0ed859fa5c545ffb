package callers

import (
	"fmt"
	"slices"

	"skep/grid"
	"skep/internal/indices"
)

// List is the callers of a job. The zero value is empty.
type List struct {
	cancellers []uint64 // of the whole job
	changes    []Change
	retries    []Retry
}

// Change is what a caller wants of some tasks: it is answered when that is committed of all of them.
type Change struct {
	Caller  uint64
	Cancels bool            // that they end; else that they are run again
	left    map[uint32]bool // tasks of which that is not committed; never iterated
}

// Await adds a task.
func (x *Change) Await(i uint32) {
	if x.left == nil {
		x.left = map[uint32]bool{}
	}
	x.left[i] = true
}

// Committed reports whether it waits for no task.
func (x *Change) Committed() bool { return len(x.left) == 0 }

// Retry is a caller's wish to have tasks run again that waits until this node owns the job.
type Retry struct {
	Caller uint64
	Tasks  indices.Set
}

// Cancel adds a caller who cancels the job.
func (l *List) Cancel(caller uint64) { l.cancellers = append(l.cancellers, caller) }

// Cancelled takes the callers who wait for the job's cancellation.
func (l *List) Cancelled() []uint64 {
	taken := l.cancellers
	l.cancellers = nil
	return taken
}

// Change adds a caller who waits for some tasks.
func (l *List) Change(x Change) { l.changes = append(l.changes, x) }

// Withdraws reports whether a caller has cancelled a task, and waits for its end.
func (l *List) Withdraws(i uint32) bool {
	return slices.ContainsFunc(l.changes, func(x Change) bool { return x.Cancels && x.left[i] })
}

// Committed takes that what became of a task is committed: that it ended, or that it is run again. It takes and returns
// those who wait for no further task.
func (l *List) Committed(i uint32, ended bool) (done []Change) {
	for k := 0; k < len(l.changes); {
		x := l.changes[k]
		if x.Cancels == ended {
			delete(x.left, i)
		}
		if !x.Committed() {
			k++
			continue
		}
		l.changes, done = slices.Delete(l.changes, k, k+1), append(done, x)
	}
	return done
}

// Retry adds a caller who waits until this node owns the job.
func (l *List) Retry(x Retry) { l.retries = append(l.retries, x) }

// Owned takes the retries that waited until this node owns the job.
func (l *List) Owned() []Retry {
	taken := l.retries
	l.retries = nil
	return taken
}

// RefuseRetries tells those whose retries wait that this node does not come to own the job.
func (l *List) RefuseRetries(id grid.JobID, fx *grid.Effects) {
	for _, x := range l.Owned() {
		fx.Reply(x.Caller, id, fmt.Sprintf("job %s: another node has taken it over meanwhile: ask again", id.Short()))
	}
}

// Refuse tells all that this node does not decide about the job any more.
func (l *List) Refuse(id grid.JobID, fx *grid.Effects) {
	for _, x := range l.Cancelled() {
		fx.Reply(x, id, "another node has taken the job over: cancel it again")
	}
	for _, x := range l.changes {
		fx.Reply(x.Caller, id, "another node has taken the job over: ask again")
	}
	l.changes = nil
	l.RefuseRetries(id, fx)
}

package oracle

import (
	"time"

	"skep/grid"
)

// Deadlines of jobs. What must hold:
//
//   - no attempt starts later than a start lease after the deadline, by clocks that are as wrong as is tolerated;
//   - nothing of a job without a deadline is missed, and nothing is missed before the deadline.
//
// A node that starts again goes by the wall clock: both may be off by as much as such clocks were set.

// leaseSlack is longer than any start lease that was given before the deadline is valid.
const leaseSlack = 10 * time.Second

// asked is when a submission was made, which may be repeated, and when it was durable somewhere.
type asked struct {
	made, saved     grid.Time
	isMade, isSaved bool
}

// Submits notes that a submission is made, first or again.
func (b *Books) Submits(n int32) {
	if a := &b.jobs[n].asked; !a.isMade {
		a.made, a.isMade = b.world.Time(), true
	}
}

func (a *asked) came(now grid.Time) {
	if !a.isSaved {
		a.saved, a.isSaved = now, true
	}
}

// StepsWall reports that a machine's wall clock is set, so much earlier or later.
func (b *Books) StepsWall(by time.Duration) { b.wallSteps += by }

// checkDeadline checks the start of an attempt.
func (b *Books) checkDeadline(i, k int32, a grid.Attempt) {
	j := &b.jobs[b.tasks[k].job]
	d := j.spec.Rules.Deadline
	if !d.Some() || !j.asked.isSaved {
		return
	}
	after := b.world.Time().Sub(j.asked.saved)
	if last := d.Last() + d.Last()/clockShare + leaseSlack; after-b.wallSteps > last {
		b.fail(i, "starts attempt %v of %s %v after its submission, and its results are worth nothing after %v", a,
			b.taskName(k), after, d.Last())
	}
}

// clockShare is the share, as its inverse, by which a time may be longer on the world's clock than on that of a node.
const clockShare = 16

// checkMissed checks the record of a task's end.
func (b *Books) checkMissed(i int32, r *grid.Record) {
	e := &r.Entry
	if r.Delete || e.Result == nil || e.Result.Cause != grid.Missed {
		return
	}
	n := b.job(i, e.ID.Task.Job)
	if n < 0 {
		return
	}
	j := &b.jobs[n]
	d, after := j.spec.Rules.Deadline, b.world.Time().Sub(j.asked.made)
	if !d.Some() || !j.asked.isMade || after+b.wallSteps < d.Last()-d.Last()/clockShare-time.Second {
		b.fail(i, "says that task %d of submission %d missed its deadline, %v, after %v", e.ID.Task.Index, n, d.Last(), after)
	}
}

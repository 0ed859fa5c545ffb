package oracle

import (
	"time"

	"skep/grid"
)

// Budgets of jobs. What must hold:
//
//   - no attempt starts later than a start lease after the tasks that have ended, as recorded where the job was
//     submitted, have used more than the budget. Each owner, and each start of that node, may forget a sixteenth;
//   - nothing of a job without a budget is unaffordable.

// use is what the ended tasks of a job have used, as far as its origin has recorded.
type use struct {
	of    map[uint32]time.Duration // by task; never iterated
	total time.Duration
	over  grid.Time // since when that is more than the budget, and what may have been forgotten; 0 = it is not
}

// forgettable is the share of the budget, as its inverse, that an owner may not know of.
const forgettable = 16

// checkUse counts the record of a task's end, and checks it.
func (b *Books) checkUse(i int32, r *grid.Record) {
	e := &r.Entry
	n := b.job(i, e.ID.Task.Job)
	if r.Delete || e.Result == nil || n < 0 {
		return
	}
	j := &b.jobs[n]
	if !j.spec.Rules.Budget.Some() {
		if e.Result.Cause == grid.Unaffordable {
			b.fail(i, "says that task %d of submission %d, which has no budget, is unaffordable", e.ID.Task.Index, n)
		}
		return
	}
	if int32(e.ID.Task.Index) >= j.count || i != j.origin || e.State != grid.Ended {
		return
	}
	if j.use.of == nil {
		j.use.of = make(map[uint32]time.Duration)
	}
	j.use.total += e.Result.Wall - j.use.of[e.ID.Task.Index]
	j.use.of[e.ID.Task.Index] = e.Result.Wall
}

// checkBudget checks the start of an attempt.
func (b *Books) checkBudget(i, k int32, a grid.Attempt) {
	j := &b.jobs[b.tasks[k].job]
	budget := j.spec.Rules.Budget.Time()
	if budget == 0 {
		return
	}
	owners := time.Duration(a.Epoch) + time.Duration(b.machines[j.origin].starts)
	if now := b.world.Time(); j.use.total < budget+owners*budget/forgettable {
		j.use.over = 0
	} else if j.use.over == 0 {
		j.use.over = now
	} else if now > j.use.over.Add(leaseSlack) {
		b.fail(i, "starts attempt %v of %s, whose job has used %v in tasks that have ended, of %v", a, b.taskName(k),
			j.use.total, budget)
	}
}

// usedEntry is the entry of what a job with a budget has used; 0 = it has none.
func usedEntry(s *grid.JobSpec) uint32 {
	if !s.Rules.Budget.Some() {
		return 0
	}
	return s.UsedEntry()
}

package coordinator

import (
	"cmp"
	"math"
	"slices"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/budget"
	"skep/node/coordinator/cancellation"
	"skep/node/deadline"
	"skep/node/failures"
	"skep/node/reliability"
)

// Deadlines of jobs (package deadline). Their budgets are kept in budget.go.

// watchDeadline has the deadline of a job heeded, if it has one, and its budget. What is over already is missed in this
// step.
func (c *Coordinator) watchDeadline(now grid.Time, j *job, fx *grid.Effects) {
	c.openAccount(now, j)
	switch left, some := j.deadlineLeft(now); {
	case !some:
	case left > 0:
		c.queue.deadlines.Add(now.Add(left), j.id, fx)
	default:
		c.miss(j)
	}
}

// missDeadlines has the jobs cancelled whose deadline is over, and looks at the accounts of budgets that are due.
func (c *Coordinator) missDeadlines(now grid.Time, fx *grid.Effects) {
	for id, due := c.queue.deadlines.Due(now, fx); due; id, due = c.queue.deadlines.Due(now, fx) {
		if j := c.jobs.Get(id); j != nil {
			if c.settleUse(now, j, fx); !j.inTime(now, 0) {
				c.miss(j)
			}
		}
	}
}

// miss has the job cancelled if this node owns it. Another member does it once it is the owner.
func (c *Coordinator) miss(j *job) {
	if !j.cancelled && j.leads() {
		c.queue.toCancel = append(c.queue.toCancel, j)
	}
}

// deadlineEnd returns how the tasks end of a job that is to be cancelled as its deadline is over, or its budget is
// exhausted; nil = it is not.
func (j *job) deadlineEnd(now grid.Time) *grid.Result {
	switch {
	case j.inTime(now, 0):
		return nil
	case j.account.Exhausted(now):
		return j.account.End(now)
	}
	return deadline.Missed(j.spec.Rules.Deadline)
}

// cancellation is the job as far as that tells how its tasks end if it is cancelled.
func (j *job) cancellation() cancellation.Job {
	return cancellation.Job{Spec: j.spec, Register: j.replica, Tasks: &j.tasks, Cancelled: j.cancelled}
}

// neverAgain says why no task of a job may be run again by a caller; "" = each may that has ended.
func (c *Coordinator) neverAgain(now grid.Time, j *job) string {
	if r := cmp.Or(j.deadlineEnd(now), j.cancellation().Limit()); r != nil {
		return "a limit of it is reached, so nothing of it could be run again (" + r.Error + "): submit it again"
	}
	return failures.Refuses(j.spec)
}

// deadlineWatch is the deadlines to come, and the looks at accounts of budgets.
type deadlineWatch = deadline.Watch

// impossible says that the deadline of a job that is submitted cannot be met, or its budget cannot suffice; "" = both
// can, as far as is known.
func (c *Coordinator) impossible(now grid.Time, spec *grid.JobSpec) string {
	if !spec.Rules.Deadline.Some() && !spec.Rules.Budget.Some() {
		return ""
	}
	class := grid.ClassOf(spec)
	c.peers.Inform(now)
	c.peers.UpdateColumns(now)
	lanes := c.peers.Lanes(now, spec, class, c.isLocal(spec))
	return cmp.Or(deadline.Impossible(spec, class, lanes), budget.Impossible(spec, class, deadline.Shortest(lanes)))
}

// expects reports whether the mean run time of a class tells how long the next attempt of a task or gang would take. It
// does not where that begins from a checkpoint, or where the mean is one over several numbers of ranks.
func (c *Coordinator) expects(j *job, i uint32, level string) bool {
	return c.peers.Expected(level) > 0 && !j.spec.Gang.Sized() && c.checkpoints.View(j.spec, j.attempt(i).Task).Step == 0
}

// tooLate parks a task that its job's budget does not pay for, or that would end too late at its soonest, as far as is
// known how long it takes, or of which the deadline is over, and reports whether it did. The task's answers stay: they
// may serve others of a batch.
func (c *Coordinator) tooLate(now grid.Time, l *liveTask, soonest float64, fx *grid.Effects) bool {
	if c.awaitsBudget(now, l, 0, fx) {
		return true
	}
	left, some := l.job.deadlineLeft(now)
	if !some || left > 0 && (soonest <= left.Seconds() || !c.expects(l.job, l.index, l.level())) {
		return false
	}
	c.pauseTask(now, l, late(l.task(), soonest, left), fx)
	return true
}

// late says that a task would end too late at its soonest. While it waits for that, what was said first stays.
func late(t *task, soonest float64, left time.Duration) grid.Refusal {
	if tr := t.History.Last(); tr.What == grid.TraceWait && tr.Refusal.Why == grid.WhyDeadline {
		return tr.Refusal
	}
	return grid.Refusal{Why: grid.WhyDeadline, Detail: deadline.Late(soonest, left)}
}

// dropLate removes the answers of nodes that would not be done with a task by its job's deadline. It parks a task that
// none would be done with, and reports whether it did.
func (c *Coordinator) dropLate(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	left, some := l.job.deadlineLeft(now)
	if !some || len(l.Answers) == 0 || !c.expects(l.job, l.index, l.level()) {
		return false
	}
	if c.tooLate(now, l, l.Soonest(), fx) {
		c.recycleAnswers(l)
		return true
	}
	l.Answers = slices.DeleteFunc(l.Answers, func(s balance.State) bool { return s.ECT > left.Seconds() })
	return false
}

// noteTooLate traces that a task which waits at its worker cannot end by its job's deadline any more, as far as is
// known how long it takes there.
func (c *Coordinator) noteTooLate(now grid.Time, l *liveTask, worker grid.NodeID) {
	left, some := l.job.deadlineLeft(now)
	if !some || l.Status().Runs() || !c.expects(l.job, l.index, l.level()) {
		return
	}
	t, run := l.task(), c.runTimeAt(now, l, worker)
	if run == 0 || run <= left.Seconds() || t.History.Last().Refusal.Why == grid.WhyDeadline {
		return
	}
	c.trace(t, grid.Trace{At: now, What: grid.TraceWait, Node: worker,
		Refusal: grid.Refusal{Why: grid.WhyDeadline, Detail: deadline.Unstarted(run, left)}})
}

// runTimeAt is in how many seconds a worker would be done with a whole task that starts there; 0 = it is not known.
func (c *Coordinator) runTimeAt(now grid.Time, l *liveTask, worker grid.NodeID) (run float64) {
	if c.isHere(worker) {
		run, _ = c.peers.RunTime(l.level())
		return run / l.job.spec.Needs.SpeedupOf(l.task().Option)
	}
	run, _ = c.peers.RunTimeAt(now, worker, l.job.spec.AsOption(l.task().Option), l.level())
	return run
}

// deadlineLeft is the time from now after which a result is worth nothing; false = the job has no deadline.
func (j *job) deadlineLeft(now grid.Time) (time.Duration, bool) {
	return deadline.Left(now, j.arrived, j.spec.Rules.Deadline)
}

// worthFor is for how many seconds from now a result is worth something; 0 = the job has no deadline.
func (j *job) worthFor(now grid.Time) float64 {
	if left, some := j.deadlineLeft(now); some {
		return max(left, 1).Seconds()
	}
	return 0
}

// inTime reports whether what begins or ends so much later can be of worth to the job, whose budget is not exhausted.
func (j *job) inTime(now grid.Time, later time.Duration) bool {
	left, some := j.deadlineLeft(now)
	return (!some || later < left) && !j.account.Exhausted(now)
}

// gangTooLate sets a gang aside that would end too late, as tooLate does with a task.
func (c *Coordinator) gangTooLate(now grid.Time, j *job, fx *grid.Effects) bool {
	if j.awaitsSlot = !c.affordsUntried(now, j, 0); j.awaitsSlot {
		j.gang.Due = now.Add(maxPause)
		c.awaitGang(now, j, j.account.Refusal(now, time.Duration(j.count())*c.expectedUse(j, 0, j.level, 1)), fx)
		c.attemptsChanged(j, 0)
		return true
	}
	left, some := j.deadlineLeft(now)
	soonest := c.peers.Expected(j.level)
	if !some || left > 0 && (soonest <= left.Seconds() || !c.expects(j, 0, j.level)) {
		return false
	}
	j.gang.Due = now.Add(maxPause)
	c.awaitGang(now, j, late(j.tasks.At(0), soonest, left), fx)
	return true
}

// placed is a task that has a worker as its reliability sees it: what a result is worth by its job's bid and deadline,
// what is expected of its present attempt, and of one that would follow it.
func (c *Coordinator) placed(now grid.Time, l *liveTask) reliability.Placed {
	j, worker := l.job, l.task().Worker
	speedup := j.spec.Needs.SpeedupKnown(l.task().Option)
	usual := c.peers.Expected(l.level()) / speedup
	run := c.peers.Believed(now, worker, cmp.Or(c.runTimeAt(now, l, worker), usual), l.level(), speedup)
	left := run
	if since := l.Status().Since(); since > 0 {
		left = max(run-now.Sub(since).Seconds(), run/8)
	} else if e := &l.expectation; e.Made > 0 && e.Expected > 0 {
		left = max(run, e.Expected-now.Sub(e.Made).Seconds())
	}
	p := reliability.Placed{Heuristic: j.spec.Rules.Reliability, Worker: worker,
		Run: reliability.Run{Seconds: left, Risk: c.peers.Risk(now, worker, left)}}
	p.Task = reliability.Task{Value: j.spec.Bid().Number() * usual * speedup, Notice: c.cfg.Lease.Seconds(),
		Worth: func(s float64) float64 { return j.spec.Rules.Deadline.Worth(l.age(now) + grid.Seconds(s)) }}
	if more := j.spec.Retries - l.task().Lost; more > 0 {
		risk := c.peers.Risk(now, grid.NodeID{}, usual)
		if !j.spec.Rules.Deadline.Some() {
			risk = math.Pow(risk, float64(more))
		}
		p.Task.Again = &reliability.Run{Seconds: usual, Risk: risk}
	}
	return p
}

// weighCopy says at which of the nodes a copy of a task runs from now on, if it does at any; else it tells why not in
// the task's trace. nodes are only asked for if a copy may be worth it, and misses says whether nobody was idle.
func (c *Coordinator) weighCopy(now grid.Time, l *liveTask, nodes func() []balance.State) (x balance.Choice, why string,
	misses bool) {
	charger, _ := c.policyOf(l.job).(balance.Charger)
	p := c.placed(now, l)
	choice, may := p.MayGain()
	idle := !may
	if may {
		var at *balance.State
		choice, at = p.Copy(nodes(), func(s *balance.State) bool {
			free := s.Waiting <= 0 && s.Ready <= 0 && (charger == nil || charger.Charge(now, s) <= 0)
			idle = idle || free
			return free
		}, func(id grid.NodeID, seconds float64) float64 { return c.peers.Risk(now, id, seconds) })
		if at != nil {
			return balance.Choice{Act: balance.Place, Node: at.Node, ECT: at.ECT, Option: at.Option}, p.Says(choice, true), false
		}
	}
	if t := l.task(); t.History.Last().What != grid.TraceReliability {
		c.trace(t, grid.Trace{At: now, What: grid.TraceReliability, Node: t.Worker,
			Refusal: grid.Refusal{Detail: p.Says(choice, idle)}})
	}
	return balance.Choice{Act: balance.Wait}, "", !idle
}

package coordinator

import (
	"cmp"
	"slices"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/deadline"
	"skep/node/failures"
	"skep/node/peers"
)

// Deadlines of jobs (package deadline).

// watchDeadline has the deadline of a job heeded, if it has one. What is over already is missed in this step.
func (c *Coordinator) watchDeadline(now grid.Time, j *job, fx *grid.Effects) {
	switch left, some := j.deadlineLeft(now); {
	case !some:
	case left > 0:
		c.queue.deadlines.Add(now.Add(left), j.id, fx)
	default:
		c.miss(j)
	}
}

// missDeadlines has the jobs cancelled whose deadline is over.
func (c *Coordinator) missDeadlines(now grid.Time, fx *grid.Effects) {
	for id, due := c.queue.deadlines.Due(now, fx); due; id, due = c.queue.deadlines.Due(now, fx) {
		if j := c.jobs.Get(id); j != nil {
			c.miss(j)
		}
	}
}

// miss has the job cancelled if this node owns it. Another member does it once it is the owner.
func (c *Coordinator) miss(j *job) {
	if !j.cancelled && j.leads() {
		c.queue.toCancel = append(c.queue.toCancel, j)
	}
}

// deadlineEnd returns how the tasks end of a job that is to be cancelled as its deadline is over; nil = it is not.
func (j *job) deadlineEnd(now grid.Time) *grid.Result {
	if j.inTime(now, 0) {
		return nil
	}
	return deadline.Missed(j.spec.Rules.Deadline)
}

// missedEnd is how the tasks end of a job that is cancelled since its deadline was over; nil = it is not.
func (j *job) missedEnd() *grid.Result {
	if !j.spec.Rules.Deadline.Some() {
		return nil
	}
	if v, _ := j.replica.Value(j.spec.Count); j.cancelled && v != nil && !v.Open() {
		return v.Result
	}
	return nil
}

// missedText says which deadline of its own a cancelled job has missed; "" = none.
func (j *job) missedText() string {
	if r := j.missedEnd(); r != nil {
		return r.Error
	}
	return ""
}

// BadEnds counts the ended tasks of a job that did not end with 0.
type BadEnds struct {
	Failed int // all of them
	Missed int // of Failed, those that had not ended by the job's deadline
}

// cancelResult is how the tasks of a cancelled job end that have not ended before: by its rule or its deadline, or by a
// caller.
func (j *job) cancelResult() *grid.Result {
	if r := j.missedEnd(); r != nil {
		return r
	}
	if why := j.stopped(); why != "" {
		return &grid.Result{Cause: grid.Cancelled, Exit: cancelledResult.Exit, Error: clip("cancelled: " + why)}
	}
	return cancelledResult
}

// neverAgain says why no task of a job may be run again by a caller; "" = each may that has ended.
func (c *Coordinator) neverAgain(now grid.Time, j *job) string {
	if r := j.deadlineEnd(now); r != nil {
		return "a limit of it is reached, so nothing of it could be run again (" + r.Error + "): submit it again"
	}
	return failures.Refuses(j.spec)
}

// deadlineWatch is the deadlines to come.
type deadlineWatch = deadline.Watch

// excludesNone excludes no node.
type excludesNone struct{}

func (excludesNone) Excludes(grid.NodeID, bool) bool { return false }

// impossible says that the deadline of a job that is submitted cannot be met; "" = it can, as far as is known.
func (c *Coordinator) impossible(now grid.Time, spec *grid.JobSpec) string {
	if !spec.Rules.Deadline.Some() {
		return ""
	}
	class := grid.ClassOf(spec)
	n := peers.Need{Spec: spec, Class: class, Level: cmp.Or(grid.LevelOf(spec), class), Excluded: excludesNone{}}
	c.peers.Inform(now)
	c.peers.UpdateColumns(now)
	if c.peers.Expected(n.Level) == 0 {
		return ""
	}
	nodes, _ := c.peers.Eligible(now, &n, c.scratch.view[:0])
	c.scratch.view = nodes
	var lanes []deadline.Lane
	for i := range nodes {
		if s := &nodes[i]; !c.isLocal(spec) || c.isHere(s.Node) {
			slots := c.peers.Capacity(s.Node).Slots(spec.Needs.Resources, int(spec.Count))
			lanes = append(lanes, deadline.Lane{Slots: slots, Ready: s.Ready, Run: s.ECT - s.Ready})
		}
	}
	return deadline.Impossible(spec, class, lanes)
}

// expects reports whether the mean run time of a class tells how long the next attempt of a task or gang would take. It
// does not where that begins from a checkpoint, or where the mean is one over several numbers of ranks.
func (c *Coordinator) expects(j *job, i uint32, level string) bool {
	return c.peers.Expected(level) > 0 && !j.spec.Gang.Sized() && c.checkpoints.View(j.spec, j.attempt(i).Task).Step == 0
}

// tooLate parks a task that would end too late at its soonest, as far as is known how long it takes, or of which the
// deadline is over, and reports whether it did. The task's answers stay: others of a batch may be placed with them.
func (c *Coordinator) tooLate(now grid.Time, l *liveTask, soonest float64, fx *grid.Effects) bool {
	left, some := l.job.deadlineLeft(now)
	if !some || left > 0 && (soonest <= left.Seconds() || !c.expects(l.job, l.index, l.level())) {
		return false
	}
	c.pauseTask(now, l, l.task().late(soonest, left), fx)
	return true
}

// late says that a task would end too late at its soonest. While it waits for that, what was said first stays.
func (t *task) late(soonest float64, left time.Duration) grid.Refusal {
	if tr := t.history.Last(); tr.What == grid.TraceWait && tr.Refusal.Why == grid.WhyDeadline {
		return tr.Refusal
	}
	return grid.Refusal{Why: grid.WhyDeadline, Detail: deadline.Late(soonest, left)}
}

// dropLate removes the answers of nodes that would not be done with a task by its job's deadline. It parks a task that
// none would be done with, and reports whether it did.
func (c *Coordinator) dropLate(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	left, some := l.job.deadlineLeft(now)
	if !some || len(l.answers) == 0 || !c.expects(l.job, l.index, l.level()) {
		return false
	}
	soonest := slices.MinFunc(l.answers, func(a, b balance.State) int { return cmp.Compare(a.ECT, b.ECT) }).ECT
	if c.tooLate(now, l, soonest, fx) {
		c.recycleAnswers(l)
		return true
	}
	l.answers = slices.DeleteFunc(l.answers, func(s balance.State) bool { return s.ECT > left.Seconds() })
	return false
}

// noteTooLate traces that a task which waits at its worker cannot end by its job's deadline any more, as far as is
// known how long it takes there.
func (c *Coordinator) noteTooLate(now grid.Time, l *liveTask, worker grid.NodeID) {
	left, some := l.job.deadlineLeft(now)
	if !some || l.status.Runs() || !c.expects(l.job, l.index, l.level()) {
		return
	}
	run, known := c.peers.RunTimeAt(now, worker, l.job.spec, l.level())
	if c.isHere(worker) {
		run, _ = c.peers.RunTime(l.level())
		known = true
	}
	t := l.task()
	if !known || run <= left.Seconds() || t.history.Last().Refusal.Why == grid.WhyDeadline {
		return
	}
	c.trace(t, grid.Trace{At: now, What: grid.TraceWait, Node: worker,
		Refusal: grid.Refusal{Why: grid.WhyDeadline, Detail: deadline.Unstarted(run, left)}})
}

// deadlineLeft is the time from now after which a result is worth nothing; false = the job has no deadline.
func (j *job) deadlineLeft(now grid.Time) (time.Duration, bool) {
	return deadline.Left(now, j.arrived, j.spec.Rules.Deadline)
}

// inTime reports whether what begins or ends so much later can be of worth to the job.
func (j *job) inTime(now grid.Time, later time.Duration) bool {
	left, some := j.deadlineLeft(now)
	return !some || later < left
}

// gangTooLate sets a gang aside that would end too late, as tooLate does with a task.
func (c *Coordinator) gangTooLate(now grid.Time, j *job, fx *grid.Effects) bool {
	left, some := j.deadlineLeft(now)
	soonest := c.peers.Expected(j.level)
	if !some || left > 0 && (soonest <= left.Seconds() || !c.expects(j, 0, j.level)) {
		return false
	}
	j.gang.Due = now.Add(maxPause)
	c.awaitGang(now, j, j.task(0).late(soonest, left), fx)
	return true
}

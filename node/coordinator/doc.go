// Package coordinator manages the jobs that a node owns, and those of whose registers it is a member.
//
// A submission becomes a [job] with a register, which this node alone keeps or other members too (submission.go). The
// tasks wait in a queue (queue.go); a placement decision collects the candidates (package candidates), polls those
// that the policy names, and chooses one (placement.go). The attempt is offered (offer.go) and holds a lease
// (lease.go) until its result is recorded, once (result.go). A task that cannot be placed waits for a reason
// (wait.go); one that takes too long is reclaimed or gets a backup attempt (reclaim.go, backup_start.go). What a job
// says of failed tasks, and of those that run at a time, is in rules.go. A task's phases and queues are in package
// live, what is recorded of it in package tasks; invariant.go checks that they agree with the jobs. Gangs take turns
// (package rounds). What is done when a deadline is over, or cannot be met, is in deadline.go.
//
// What the register says counts: an owner acts only with its quorum lease, and an end is visible only once it is
// committed. The coordinator calls its registers, which never call it, and applies what has changed at them
// (replica.go, replica_member.go, takeover.go). A new owner places nothing during its takeover grace, in which workers
// report what earlier owners gave them (takeover.go). What was cancelled, a job or some of its tasks
// (cancel.go), stays behind a barrier until nothing of it can start (cancel_barrier.go); its tasks end as package
// cancellation says, many of them in batches (package bulk).
//
// It speaks to workers by messages, also to that of its own node; which jobs have another owner or are over it tells
// that one by a list of changes that the node carries. It asks package peers what it knows of the other nodes. Jobs
// that are over are archived, small ones packed (archive.go, packages archive and packed). What is stored for others is
// charged to them (package quota). Local callers that wait for a job are in package callers.
//
// What decisions weighed is kept in a log of bounded size, for explanations (placement.go, package decisions).
//
// DESIGN.md has the state diagram of a task.
package coordinator

import (
	"fmt"

	"skep/grid"
	"skep/node/coordinator/live"
)

// BrokenInvariant returns an invariant that does not hold between two steps; "" = all do. It costs time in proportion
// to all tasks here: it is for simulations and tests.
func (c *Coordinator) BrokenInvariant() string {
	for l := range c.live.All() {
		if broken := brokenTask(c, l); broken != "" {
			return fmt.Sprintf("task %d of job %v, %v and %v: %s", l.index, l.job.id.Short(), l.Phase(), l.task().State(),
				broken)
		}
	}
	for j := range c.jobs.All() {
		if broken := brokenJob(j); broken != "" {
			return fmt.Sprintf("job %v: %s", j.id.Short(), broken)
		}
	}
	_, register := c.replicas.NextChange()
	if _, deposit := c.deposits.NextChange(); register || deposit || !c.changes.Empty() {
		return "a change of a register, a deposit or a job was not followed"
	}
	if broken := brokenGangs(c); broken != "" {
		return broken
	}
	return c.live.Broken()
}

// brokenTask checks a live task: its phase, its state and its queue agree.
func brokenTask(c *Coordinator, l *liveTask) string {
	state := l.task().State()
	switch {
	case l.task().Live != l || c.jobs.Get(l.job.id) != l.job:
		return "it is live and forgotten"
	case !l.job.replica.IsOwner():
		return "it is live at a node that does not own the job"
	case l.planned:
		if state != grid.Offered || l.Phase() != live.Waiting && l.Phase() != live.Idle {
			return "it is planned"
		}
	case l.Phase() == live.Placed && state != grid.Placed && state != grid.Offered, // offered: before a restart
		l.Phase() == live.Offered && state != grid.Offered,
		l.Phase() != live.Placed && l.Phase() != live.Offered && state != grid.Pending:
		return "phase and state differ"
	}
	switch {
	case l.Phase() != live.Placed && (l.result != nil || l.backup != nil):
		return "it has a result or a backup attempt"
	case l.Phase() == live.Idle && c.live.InFlight() < c.cfg.Window:
		return "nobody decides about it"
	case l.Phase() == live.Waiting && l.Awaits() == live.ForMapping && !c.expectsMapping(l.job):
		return "it awaits a mapping event that nobody begins"
	}
	return ""
}

// brokenJob checks that a job's counts are right, and that no task of it is lost.
func brokenJob(j *job) string {
	active := j.leads() && !j.cancelled
	for i, t := range j.tasks.Known() {
		if hasWorker(t) && t.Live == nil && active {
			return fmt.Sprintf("task %d is %v and not live", i, t.State())
		}
		v, _ := j.replica.Value(i)
		ended := v != nil && (!v.Open() || t.Uncommitted())
		if j.replica.Job() == j.id && ended != (t.State() == grid.Ended) {
			return fmt.Sprintf("task %d is %v, its entry %v", i, t.State(), v)
		}
	}
	if broken := j.tasks.Broken(); broken != "" {
		return broken
	}
	if !active || j.replica.graceUntil != 0 || j.BulkEnd().On() {
		return ""
	}
	for i := range j.spec.Count {
		if j.tasks.State(i) == grid.Pending && j.at(i).Live == nil && !j.holds(i) &&
			(i < j.nextFresh || j.queueIndex == 0 && !j.setAside) {
			return fmt.Sprintf("task %d is never placed", i)
		}
	}
	switch {
	case j.setAside && !j.awaitingMajority && j.live.HeldBack() == 0 && !j.isHeld() && !j.gangWaits() &&
		!(j.awaitsSlot && (j.isFull(j.live.Polling()) || j.account != nil)):
		return "it is set aside for nothing"
	case j.mayClose() && !j.replica.closing:
		return "it is not closed"
	}
	return j.brokenBudget()
}

// expectsMapping reports whether a mapping event of the job's policy is to begin.
func (c *Coordinator) expectsMapping(j *job) bool {
	name, _ := c.mapperOf(j)
	e := c.mappings.Of(name)
	return e != nil && e.Expected()
}

func (c *Coordinator) changed(x grid.JobChange) { c.changes.Add(x) }

// NextChange returns the oldest change that the worker has to follow and that it has not returned yet; false = there is
// none.
func (c *Coordinator) NextChange() (x grid.JobChange, found bool) { return c.changes.Take() }

// brokenBudget checks that the account of a job's budget has the attempts that are out, and that what waits for it
// waits for one of them.
func (j *job) brokenBudget() string {
	if j.account == nil {
		return ""
	}
	out := 0
	for i := range j.tasks.Known() {
		for _, a := range j.AttemptsOf(i) {
			if a == (grid.Attempt{}) {
				continue
			}
			if out++; !j.account.Has(i, a) {
				return fmt.Sprintf("the account of its budget lacks attempt %v of task %d", a, i)
			}
		}
	}
	switch {
	case out != j.account.Out():
		return fmt.Sprintf("the account of its budget has %d attempts, %d are out", j.account.Out(), out)
	case j.account.Closed():
		return "its budget is closed, and it goes on"
	case out > 0 || j.live.Polling() > 0 || !j.awaitsBudget() || j.isFull(0):
		return ""
	}
	for i := range j.spec.Count {
		if j.mayGoOnElse(i) {
			return ""
		}
	}
	return "it waits for what its budget leaves, and nothing of it is out or may go on"
}

// brokenGangs checks that the gangs known are those of jobs that this node places, and no others.
func brokenGangs(c *Coordinator) string {
	known := 0
	for j := range c.jobs.All() {
		if j.gang == nil {
			continue
		}
		if known++; c.queue.gangs.Get(j.gang.Handle) != j || !j.leads() {
			return fmt.Sprintf("job %v: it is placed as a gang, and is over or owned elsewhere", j.id.Short())
		}
	}
	if n := c.queue.gangs.Len(); n != known {
		return fmt.Sprintf("%d gangs are known, of %d jobs", n, known)
	}
	return ""
}

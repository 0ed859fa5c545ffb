package coordinator

import (
	"math"
	"time"

	"skep/grid"
	"skep/node/budget"
	"skep/node/contract"
	"skep/node/coordinator/live"
	"skep/node/migration"
)

// Budgets of jobs. The account of a job (package budget) knows the attempts that are out; what waits for its budget
// waits as what waits for a slot does: tried tasks in live.Job.AwaitingSlot, untried ones with their job, set aside.
//
//	an attempt is made, given up or has ended; something waits ──► attemptsChanged ──► settleAccounts, in the step:
//	   the account follows ──► what it pays for now goes on
//	                      └──► nothing can go on, nothing is out: the budget is closed, and the job ends
//
// Invariant: while something waits for a budget an attempt of the job is out, or a task of it is polled for, or one
// waits for something else and is paid for. So a look is due (Account.Settle), or the account follows once that one is
// decided about; after either, what waits goes on or the job ends.

// openAccount opens the account of a job that this node is to own: it follows the attempts that are out.
func (c *Coordinator) openAccount(now grid.Time, j *job) {
	j.account = budget.Open(now, c.wall.At(now).UnixNano(), budget.Job{ID: j.id, Spec: j.spec, Arrived: j.arrived,
		Every: c.cfg.Lease / 3, Looks: &c.queue.deadlines, Attempts: j}, j.replica)
	if j.account != nil {
		for i := range j.tasks.Known() {
			c.attemptsChanged(j, i)
		}
	}
}

// AttemptsOf returns the attempts of a task that workers have, or may have: the second is a backup attempt.
func (j *job) AttemptsOf(i uint32) (out [2]grid.Attempt) {
	t := j.at(i)
	if hasWorker(t) {
		out[0] = t.Attempt
	}
	if t.Live != nil && t.Live.backup != nil {
		out[1] = t.Live.backup.attempt
	}
	return out
}

// attemptsChanged has the account of a job's budget follow what has changed about the attempts of a task, or about what
// waits, before the next placement decision: see settleAccounts.
func (c *Coordinator) attemptsChanged(j *job, i uint32) {
	if j.account != nil && j.account.Changed(i) {
		c.queue.accounts = append(c.queue.accounts, j)
	}
}

// settleAccounts has the accounts follow what has changed. What waits for a budget goes on as far as that pays for it
// now, and a job of which nothing can go on any more is cancelled.
func (c *Coordinator) settleAccounts(now grid.Time, fx *grid.Effects) {
	jobs := c.queue.accounts
	c.queue.accounts = nil
	for _, j := range jobs {
		c.settleUse(now, j, fx)
	}
}

// settleUse looks at the account of a job's budget. What is used goes into the register.
func (c *Coordinator) settleUse(now grid.Time, j *job, fx *grid.Effects) {
	if j.account == nil {
		return
	}
	over := j.tasks.In(grid.Ended) == j.count()
	e := j.account.Settle(now, c.wall.At(now).UnixNano(), j.replica, over, fx)
	if c.jobs.Get(j.id) != j || !j.leads() || j.replica.State().Done {
		return
	}
	if e != nil && (over || !j.cancelled) {
		j.replica.Propose(e)
		j.account.Written(e)
		c.saveEntry(j, e.Index, fx)
	}
	if over || j.cancelled {
		return
	}
	if j.awaitsBudget() && !c.resumeAffordable(now, j) && j.account.Out() == 0 && j.live.Polling() == 0 &&
		!c.othersMayGoOn(now, j) {
		j.account.Close()
	}
	if j.account.Exhausted(now) {
		c.miss(j)
	}
}

// awaitsBudget reports whether something of the job may wait for what its budget leaves.
func (j *job) awaitsBudget() bool {
	return len(j.live.AwaitingSlot()) > 0 || j.setAside && j.awaitsSlot
}

// limit is the limit of a job that its untried tasks wait for.
func (j *job) limit() grid.Why {
	if j.account == nil || j.isFull(j.live.Polling()) {
		return grid.WhySlots
	}
	return grid.WhyBudget
}

// resumeAffordable has as many of a job's waiting tasks go on as its budget pays for, and reports whether any does. All
// are looked at only if nothing is out: else another look follows.
func (c *Coordinator) resumeAffordable(now grid.Time, j *job) (any bool) {
	n, idle := int(j.live.Polling())+1, j.account.Out() == 0 && j.live.Polling() == 0
	for k := 0; k < len(j.live.AwaitingSlot()) && !j.isFull(int32(n-1)); {
		if l := j.live.AwaitingSlot()[k]; c.affords(now, l, n) {
			c.resumeTask(l)
			n, any = n+1, true
		} else if k++; !idle || any {
			break
		}
	}
	if j.setAside && j.awaitsSlot && !j.isFull(int32(n-1)) && c.affordsUntried(now, j, n) {
		if any, j.awaitsSlot = true, false; j.gang != nil {
			j.gang.Due = now
		}
		c.requeueJob(j)
	}
	return any
}

// othersMayGoOn reports whether the budget pays for a task without a worker that does not wait for it: one in the retry
// queue, or that waits for a timer, a proof or a majority. All must be known after a takeover.
func (c *Coordinator) othersMayGoOn(now grid.Time, j *job) bool {
	if j.replica.graceUntil != 0 {
		return true
	}
	fresh := false
	for i := range j.spec.Count {
		switch l := j.at(i).Live; {
		case !j.mayGoOnElse(i):
		case l != nil && c.affords(now, l, 1), l == nil && !fresh && c.affordsUntried(now, j, 1):
			return true
		default:
			fresh = fresh || l == nil // all of them are expected to take the same
		}
	}
	return false
}

// mayGoOnElse reports whether a task has no worker and waits for something other than what the job's budget leaves.
func (j *job) mayGoOnElse(i uint32) bool {
	if l := j.at(i).Live; l != nil {
		return j.tasks.State(i) == grid.Pending && (l.Phase() != live.Waiting || l.Awaits() != live.ForSlot)
	}
	return j.tasks.State(i) == grid.Pending && !(j.setAside && j.awaitsSlot)
}

// setsAsideForBudget sets a job aside whose budget does not pay for its next untried task beside those that are polled
// for, and reports whether it did.
func (c *Coordinator) setsAsideForBudget(now grid.Time, j *job) bool {
	if c.affordsUntried(now, j, int(j.live.Polling())+1) {
		return false
	}
	j.setAside, j.awaitsSlot = true, true
	c.queue.turns.Pop()
	c.attemptsChanged(j, j.nextFresh)
	return true
}

// affords reports whether a job's budget pays for so many attempts like the next one of a task.
func (c *Coordinator) affords(now grid.Time, l *liveTask, attempts int) bool {
	return l.job.account.Pays(now, attempts, c.expectedUse(l.job, l.index, l.level(), l.job.spec.Needs.Fastest()))
}

// affordsAs reports whether a job's budget pays for a further attempt of a task that runs as an option.
func (c *Coordinator) affordsAs(now grid.Time, l *liveTask, option uint8) bool {
	return l.job.account.Pays(now, 1, c.expectedUse(l.job, l.index, l.level(), l.job.spec.Needs.SpeedupOf(option)))
}

// affordsUntried is affords for the next untried task of a job, or for all ranks of a gang.
func (c *Coordinator) affordsUntried(now grid.Time, j *job, attempts int) bool {
	if j.spec.IsGang() {
		return j.account.Pays(now, j.count(), c.expectedUse(j, 0, j.level, 1))
	}
	i, fastest := min(j.nextFresh, j.spec.Count-1), j.spec.Needs.Fastest()
	return j.account.Pays(now, attempts, c.expectedUse(j, i, j.level, fastest))
}

// awaitsBudget parks a task without a worker that its job's budget does not pay for beside as many that are polled for,
// and reports whether it did.
func (c *Coordinator) awaitsBudget(now grid.Time, l *liveTask, under int, fx *grid.Effects) bool {
	if c.affords(now, l, under+1) || l.task().State() != grid.Pending || !c.mayAct(now, l.job) && !c.isProvisional(l.job) {
		return false
	}
	use := c.expectedUse(l.job, l.index, l.level(), l.job.spec.Needs.Fastest())
	c.waitFor(now, l, maxPause, l.job.account.Refusal(now, use), fx)
	c.attemptsChanged(l.job, l.index)
	return true
}

// expectedUse is what a further attempt with a speedup is expected to take of the job's budget; 0 = it is not known.
func (c *Coordinator) expectedUse(j *job, i uint32, level string, speedup float64) time.Duration {
	if j.account == nil || !c.expects(j, i, level) {
		return 0
	}
	return grid.Seconds(c.peers.ProcessTime(level) / speedup)
}

// What is known of the moves that earlier owners made.

// halfMoved reports whether an earlier owner has recorded a move, and nobody reports a rank of the attempt that was to
// be given up for it: a worker was told to drop it.
func (j *job) halfMoved() (rank uint32, half bool) {
	if j.tasks.In(grid.Ended) > 0 || !contract.EndsAsMove(j.spec, j.replica, j.gangAttempt()) {
		return 0, false
	}
	for i := range j.gang.Ranks() {
		if j.at(i).Live == nil && j.gang.Result(i) == nil {
			return i, true
		}
	}
	return 0, false
}

// mostMoves is how often the task of an earlier owner's attempt, or its gang, can have been pulled and have moved.
func (j *job) mostMoves(a grid.Attempt) (pulls, moves uint8) {
	switch {
	case j.spec.CountsMoves():
		return uint8(contract.Made(j.spec, j.replica, a)), 0
	case j.spec.IsGang():
		return migration.MostMade(a, j.spec.Gang.Before(a), math.MaxUint8), 0
	}
	before := max(a.N, 1) - 1
	return migration.MostMade(a, before, maxPulls), migration.MostMade(a, before, grid.MaxTaskMoves)
}

// countMoves notes at the end of a takeover grace how often a gang has moved. Where its register does not say so, all
// moves count as made of one whose first rank no worker has reported.
func (c *Coordinator) countMoves(j *job, fx *grid.Effects) {
	made := uint8(math.MaxUint8)
	if a := j.at(0).Attempt; j.spec.CountsMoves() {
		made = uint8(j.moves())
	} else if before, _ := j.lastKnown(0); a != before || a.Epoch >= j.replica.State().Epoch {
		return
	}
	if j.spec.Gang.Terms().Moves > 0 && j.tasks.State(0) != grid.Ended && made != j.at(0).Pulls {
		j.tasks.At(0).Pulls = made
		c.saveEntry(j, 0, fx)
	}
}

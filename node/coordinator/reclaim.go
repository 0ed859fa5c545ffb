package coordinator

import (
	"cmp"
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/dependency"
	"skep/node/migration"
)

// isStraggler reports whether a task's attempt is so old that it is reclaimed. Not one whose lease never ends, not a
// task that may run at most once, not where all rates are given, and not where another system decides when it runs.
func (c *Coordinator) isStraggler(now grid.Time, l *liveTask) bool {
	return c.leaseDue(l) < grid.Never && l.result == nil && l.Phase() == live.Placed && l.job.spec.Retries > 0 &&
		!l.job.spec.IsGang() && !c.peers.Durable(l.task().Worker) &&
		c.peers.IsStraggler(now, &l.expectation, l.task().Worker, l.level(), l.job.spec, l.Reclaims)
}

// reclaimStraggler takes a task back from a node that does not end it. This does not count against the task's retries:
// the node may be well, and the task long.
func (c *Coordinator) reclaimStraggler(now grid.Time, l *liveTask, fx *grid.Effects) {
	t, why := l.task(), grid.Refusal{Why: grid.WhyStuck}
	c.peers.Reclaimed(now, t.Worker)
	c.attemptReturned(now, &l.expectation, t.Worker, false)
	c.stats.Lost++
	c.trace(t, grid.Trace{At: now, What: grid.TraceLost, Node: t.Worker, Refusal: why})
	c.dropAttempt(now, l, t.Worker, l.id(), fx)
	l.Reclaims = min(l.Reclaims+1, grid.MaxReclaims)
	l.expectation.Expected = 0
	l.PreferOthers(t.Worker, why, now.Add(c.cfg.Lease))
	if l.backup != nil {
		c.promoteBackup(now, l, fx)
		return
	}
	c.live.Release(l)
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.retry(l)
}

// Tasks that an idle node asks for (package pull) while they wait at another worker.

const (
	maxPulls  = 3           // times that a task is taken from a worker's queue; then it stays
	pullPause = time.Second // a worker whose task was pulled in vain is avoided for so long
)

// MayYield reports whether an attempt of a job owned here may be taken from this node's worker for another node: the
// owner must be able to place the task again, there.
func (c *Coordinator) MayYield(now grid.Time, id grid.AttemptID, to grid.NodeID) bool {
	j := c.jobs.Get(id.Task.Job)
	if j == nil || id.Task.Index >= j.spec.Count {
		return false
	}
	l := j.at(id.Task.Index).Live
	if l != nil {
		l.Expire(now)
	}
	return l != nil && !l.Vain.Bars(to) && !l.Bars(to, true) && !c.peers.BackingOff(now, to) &&
		!c.peers.Excludes(now, l.class(), to) && j.leads() && !j.cancelled && !c.isLocal(j.spec) && c.mayAct(now, j) &&
		(j.spec.Retries > 0 || id.Epoch >= j.replica.fullHistoryFrom)
}

// offerTo begins a new attempt on a node that asked for work.
func (c *Coordinator) offerTo(now grid.Time, l *liveTask, s *balance.State, fx *grid.Effects) {
	l.request.ID, l.request.Class = l.id(), c.peers.Told(l.level())
	l.Poll.Clear()
	l.pulled = true
	c.offer(now, l, balance.Choice{Act: balance.Place, Node: s.Node, ECT: s.ECT, Option: s.Option}, fx)
	l.pulled = false // an offer that is held up goes out later, maybe to another node
}

// wasPulled reports whether a worker's refusal says that it gave the attempt to an idle node. An attempt of an earlier
// owner may be its last that may move.
func (l *liveTask) wasPulled(worker grid.NodeID, why grid.Why, puller grid.NodeID) bool {
	return l.Phase() == live.Placed && why == grid.WhyPulled && puller != worker &&
		(!l.stays() || l.task().Attempt.Epoch < l.job.replica.fullHistoryFrom)
}

// stays reports whether a task was taken from queues as often as it may be.
func (l *liveTask) stays() bool { return l.task().Pulls >= maxPulls || l.Vain.Exhausted() }

// pulledAway places a task again that its worker has handed back for an idle node: that one gets it, if it is still a
// candidate. The attempt never ran: this is no loss, and no refusal that counts against the worker.
func (c *Coordinator) pulledAway(now grid.Time, l *liveTask, worker, puller grid.NodeID, fx *grid.Effects) {
	if c.forgoUnreported(now, l, fx) {
		return
	}
	c.live.Release(l)
	l.forgetResult()
	c.attemptReturned(now, &l.expectation, worker, false)
	why := grid.Refusal{Why: grid.WhyPulled}
	if !puller.IsZero() {
		why.Detail = c.peers.Name(puller)
	}
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceRefused, Node: worker, Refusal: why})
	if l.backup != nil {
		c.promoteBackup(now, l, fx)
		return
	}
	s := c.candidate(now, l, puller)
	if s != nil || l.BacksOff(puller) { // a back-off ends: the puller may get the task when it asks again
		l.task().Pulls++
	} else {
		l.Vain.Add(puller)
	}
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	if s != nil {
		c.offerTo(now, l, s, fx)
		return
	}
	l.PreferOthers(worker, why, now.Add(pullPause))
	c.retry(l)
}

// Tasks that have started and go on at another node (package migration).

// mayMigrate reports whether a task that has started may move once more, and how such tasks move.
func (c *Coordinator) mayMigrate(l *liveTask) (may bool, how balance.Movement) {
	how = balance.Moves(cmp.Or(l.job.spec.Policy, c.cfg.Policy))
	return l.Phase() == live.Placed && l.result == nil && l.task().Moves < how.Most && l.job.spec.Retries > 0 &&
		!l.job.spec.IsGang(), how
}

// noteStatus takes what a worker says of the attempts that it has from this owner: whether they run, and how far they
// are.
func (c *Coordinator) noteStatus(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	for at, id := range m.Attempts {
		if l := c.currentAttempt(from, id); l != nil && l.Phase() == live.Placed {
			stood := l.Note(now, m, at)
			c.peers.StoodStill(&l.expectation, from, stood)
			l.job.account.Note(now, id, l.Status().Runs(), stood, fx)
			c.holdContract(now, l, fx)
			c.considerMove(now, l, fx)
			c.noteTooLate(now, l, from)
		}
	}
}

// considerMove asks a task's worker to give it up if the worker may, and another node is expected to be done sooner by
// more than that costs.
func (c *Coordinator) considerMove(now grid.Time, l *liveTask, fx *grid.Effects) {
	is := l.Status().Movable()
	if is == nil || l.job.cancelled || !c.mayAct(now, l.job) {
		return
	}
	c.queue.move.End(now, l.Key(), false) // it was asked for, and is still there
	kept := c.checkpoints.View(l.job.spec, l.id().Task)
	may, how := c.mayMigrate(l)
	if !may || l.backup != nil || is.Wait == 0 && !how.Running || kept.Step == 0 || kept.Alone ||
		!c.queue.move.Free(now) || !l.move.Looks(now) {
		return
	}
	worker := l.task().Worker
	l.Polled = l.Polled[:0] // its last decision is over
	v, _ := l.Eligible(now, c.need(now, l), true, true)
	to := l.move.Weigh(&migration.Situation{Here: worker, Whole: c.runTimeAt(now, l, worker), Is: is, Nodes: v.Nodes,
		Said: l.Status().Said(), Bytes: kept.Bytes, Lacks: c.lacks(l), Transfer: c.peers.MoveTime, Name: c.peers.Name,
		Bid: l.job.spec.Bid(), Outbid: how.Outbid})
	if to.To.IsZero() {
		return
	}
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceMoved, Node: worker,
		Refusal: grid.Refusal{Detail: clip(to.Text)}})
	c.queue.move.Take(now, l.Key(), 2*c.cfg.Lease)
	m := fx.Send(worker, grid.KindVacate)
	m.Attempts, m.Started = append(m.Attempts, l.id()), how.Running
}

// lacks returns how many bytes of a task's inputs a node is not known to have.
func (c *Coordinator) lacks(l *liveTask) func(grid.NodeID) float64 {
	own, left := l.job.spec.InputsOf(l.index), dependency.Inputs(l.job.spec, l.job.replica, l.index)
	return func(id grid.NodeID) float64 {
		if c.isHere(id) && l.job.replica.files.HasInputs() {
			return c.peers.Lacks(id, left)
		}
		return c.peers.Lacks(id, own) + c.peers.Lacks(id, left)
	}
}

// movedAway places a task again whose worker has given it up so that it goes on elsewhere, and reports whether that was
// a move: else it is a loss. The worker may have been asked by an earlier owner, or by this one before a restart.
func (c *Coordinator) movedAway(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	lacks := c.checkpoints.View(l.job.spec, l.id().Task).Step == 0 && l.id().Epoch >= l.job.replica.fullHistoryFrom
	if may, _ := c.mayMigrate(l); !may || lacks { // nobody asked for one without a checkpoint
		return false
	}
	t, why := l.task(), grid.Refusal{Why: grid.WhyMoved}
	c.queue.move.End(now, l.Key(), true)
	c.live.Release(l)
	c.attemptReturned(now, &l.expectation, t.Worker, false)
	c.trace(t, grid.Trace{At: now, What: grid.TraceMoved, Node: t.Worker, Refusal: why})
	t.Moves++
	c.stats.Migrated++
	to := l.move.Moved()
	l.PreferOthers(t.Worker, why, now.Add(c.cfg.Lease))
	if l.backup != nil { // begun since it was asked for
		c.promoteBackup(now, l, fx)
		return true
	}
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	if s := c.candidate(now, l, to); s != nil {
		l.request.ID, l.request.Class = l.id(), c.peers.Told(l.level())
		l.Poll.Clear()
		c.offer(now, l, balance.Choice{Act: balance.Place, Node: to, ECT: s.ECT}, fx)
		return true
	}
	c.retry(l)
	return true
}

// Tasks that exceed the bound on the run time of their class. A task that runs longer was declared too small and delays
// the small tasks behind it. It is stopped, and its owner places it again with the next class, which may belong to
// other nodes [4 of balance, sections 3.4 and 14: the bound theta of a class]. That is not a loss. A task that may run
// at most once is exempt.

// mayDemoteTo reports whether a worker may move the task to that class: not to a class that it had before, nor to a
// level of one, and a few times at most. Otherwise the result is an ordinary loss.
func (l *liveTask) mayDemoteTo(next string) bool {
	return next != "" && grid.ValidClass(next) && next != l.class() && l.job.spec.Retries > 0 && l.Demotions.May(next) &&
		!l.job.spec.IsGang()
}

// demote places a task again with the class that its worker named, and reports whether the result was a valid
// demotion. Only the worker knows whether the task really ran too long. So the result is no delivery, other nodes are
// preferred, and it counts as a failure of the old class at that worker.
func (c *Coordinator) demote(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) bool {
	if !l.mayDemoteTo(r.Next) {
		return false
	}
	worker, next := l.task().Worker, c.peers.Demoted(now, r.Next, l.job.spec)
	c.attemptReturned(now, &l.expectation, worker, false)
	c.policies.Note(balance.Outcome{Kind: balance.Finished, At: now, Node: worker, Class: l.request.Class})
	c.peers.Failed(now, l.class(), worker)
	l.Demotions.Add(worker, l.class())
	l.demotedTo, l.request.Class = next, next
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceDemoted, Node: worker, Refusal: grid.Refusal{Detail: next}})
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.retry(l)
	return true
}

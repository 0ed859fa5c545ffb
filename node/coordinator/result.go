package coordinator

import (
	"time"

	"skep/balance"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/quota"
)

// resultReceived handles a result that a worker sent. A result of the live attempt counts: it is recorded once and
// acknowledged, after its files have come here.
func (c *Coordinator) resultReceived(now grid.Time, from grid.NodeID, id grid.AttemptID, r *grid.Result,
	fx *grid.Effects) {
	j := c.job(id.Task.Job)
	if r == nil || j == nil && !c.isOver(id.Task.Job) {
		c.stats.Stale++
		return
	}
	c.confirmStopped(now, from, id, fx)
	if j != nil && !j.authoritative() {
		c.redirect(from, j, fx)
		return
	}
	c.adoptAttempt(now, from, id, fx)
	if j != nil && j.awaitsCommit(id) {
		return // acknowledged once it is committed
	}
	if j == nil || id.Task.Index >= j.spec.Count {
		c.countUnwanted(from, id, nil, fx)
		c.dropStale(from, id, fx)
		return
	}
	t := j.tasks.At(id.Task.Index)
	if recorded, committed := j.isRecorded(id); recorded {
		if committed { // else it is acknowledged later, when the worker repeats it
			c.releaseAttempt(from, id, t, fx)
		}
		return
	}
	if !c.proves(j, from, id, r) {
		c.countOffence(from, fx)
		return
	}
	if l := c.backupOf(from, id); l != nil && !c.backupEnded(now, l, from, id, r, fx) {
		return
	}
	closed := j.replica.State().Done // it may lack ends: see jobClosed
	if t.Attempt != id.Attempt || t.Worker != from || t.State() == grid.Ended || closed {
		c.countUnwanted(from, id, t, fx)
		c.releaseAttempt(from, id, t, fx)
		return
	}
	if r.Cause == grid.Lost && (t.Live == nil || t.Live.Phase() != live.Offered && t.Live.Phase() != live.Placed) {
		c.releaseAttempt(from, id, t, fx) // the attempt was given up before, and counted
		return
	}
	if t.Live == nil {
		if j.spec.IsGang() { // its attempt was given up, and what it leaves does not count
			c.dropStale(from, id, fx)
			return
		}
		c.newLiveTask(j, id.Task.Index)
	}
	l := t.Live
	if l.result != nil {
		l.deadline = max(l.deadline, now.Add(c.cfg.Lease))
		return
	}
	if l.backup != nil && !r.Succeeded() {
		c.yieldToBackup(now, l, from, id, r, fx)
		return
	}
	if c.quota.AdmitMore(j.id, quota.ResultBytes(r)) != "" {
		c.postponeResult(now, l, fx)
		return
	}
	c.takeResult(now, l, from, r, fx)
}

// takeResult takes the result of a live attempt, by its cause.
func (c *Coordinator) takeResult(now grid.Time, l *liveTask, from grid.NodeID, r *grid.Result, fx *grid.Effects) {
	l.job.account.Ended(now, l.id(), r.Wall, fx)
	c.attemptsChanged(l.job, l.index)
	if r.Cause == grid.Lost || r.Cause.Refused() {
		c.releaseAttempt(from, l.id(), l.task(), fx)
	}
	c.takeForResult(now, l, fx)
	switch {
	case r.Cause == grid.Lost:
		c.lostAtWorker(now, l, r, fx)
	case r.Cause.Refused():
		c.notExecuted(now, l, from, r, fx)
	case c.isHere(from) || len(r.Blobs(nil)) == 0:
		c.replicateOutput(now, l, r, fx)
	default:
		l.result = r
		c.fetchOutputs(now, l, fx)
	}
}

// lostAtWorker places a task again whose attempt its worker has lost or stopped.
func (c *Coordinator) lostAtWorker(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) {
	if c.demote(now, l, r, fx) {
		return
	}
	if r.Next != "" { // no class is left for it: it would exceed the last one's bound again
		l.prepareFailures++
	}
	c.attemptLost(now, l, grid.Refusal{Why: grid.WhyLost, Detail: r.Error}, fx)
}

// notExecuted places a task elsewhere that a worker could not execute or prepare, or ends it if that has failed too
// often.
func (c *Coordinator) notExecuted(now grid.Time, l *liveTask, from grid.NodeID, r *grid.Result, fx *grid.Effects) {
	c.checkpointFailed(l, from, r, fx)
	if c.rankNotExecuted(now, l, from, r, fx) {
		return
	}
	if l.job.spec.Folders == nil { // else it may be about a folder, and says nothing about the program
		c.peers.Ended(now, l.class(), from, r)
	}
	why := grid.Refusal{Why: grid.WhyProgram, Detail: r.Error}
	if r.Cause == grid.Failed {
		why.Why = grid.WhyFailed
		text := c.countFailedNode(l, from, why)
		if l.prepareFailures++; l.prepareFailures >= maxPrepareFailures || text != "" {
			if text != "" {
				r = &grid.Result{Cause: r.Cause, Exit: r.Exit, Error: text}
			}
			c.end(now, l.job, l.index, r, fx)
			return
		}
	}
	l.cannotExecute = r
	c.refusedAttempt(now, l, why, fx)
}

// postponeResult leaves a result unacknowledged for which the origin of a job taken over has no quota left: the worker
// keeps it and sends it again.
func (c *Coordinator) postponeResult(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.stats.Full++
	again := now.Add(c.cfg.ResultRetry + c.cfg.Lease)
	l.deadline = max(l.deadline, again)
}

// releaseAttempt tells a worker that an attempt is no longer needed: a result already recorded is acknowledged, any
// other is dropped.
func (c *Coordinator) releaseAttempt(to grid.NodeID, id grid.AttemptID, t *task, fx *grid.Effects) {
	kind := grid.KindDrop
	if t.Attempt == id.Attempt {
		kind = grid.KindResultAck
	} else {
		c.stats.Stale++
	}
	m := fx.Send(to, kind)
	m.Attempts = append(m.Attempts, id)
}

// takeForResult takes a task with a result out of its queue: its acceptance may have been lost, or the attempt given up
// and not yet replaced.
func (c *Coordinator) takeForResult(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.dequeue(l)
	l.planned = false // a worker that knows of a planned attempt may send a result unasked
	if l.Phase() == live.Polling {
		c.live.Release(l)
	}
	if l.Phase() != live.Placed {
		c.markPlaced(now, l, fx)
	}
}

// fetchOutputs fetches a result's files; the worker keeps them until the result is acknowledged.
func (c *Coordinator) fetchOutputs(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.renewLease(now, l, fx)
	fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: l.id(), From: l.task().Worker, Others: l.job.members(),
		Files: l.result.Blobs(nil)})
}

// maxFetches bounds the tries to fetch the files of a result before the attempt counts as lost.
const maxFetches = 3

// maxPrepareFailures bounds how often, on any nodes, a task may fail to be prepared, or be stopped with no class left,
// before it ends with that cause: an input that no node has any more would otherwise be searched for without end.
const maxPrepareFailures = 5

// Fetched handles the end of a fetch: a result's files, or a member's deposit.
func (c *Coordinator) Fetched(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	id, err := ev.Attempt, ev.Err
	if ev.Deposit || ev.Step != 0 {
		c.depositFetched(now, ev, fx)
		return
	}
	l := c.liveTask(id.Task)
	if l == nil || l.result == nil || l.task().Attempt != id.Attempt || l.isReplicating() {
		return
	}
	if err == "" {
		c.replicateOutput(now, l, l.result, fx)
		return
	}
	if l.fetchTries++; l.fetchTries < maxFetches {
		c.fetchOutputs(now, l, fx)
		return
	}
	c.attemptLost(now, l, grid.Refusal{Why: grid.WhyFetch, Detail: clip("its output did not come: " + err)}, fx)
}

// recordResult records a task's end and learns from it.
func (c *Coordinator) recordResult(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) {
	t := l.task()
	c.backups.justFreed = t.Worker
	c.policies.Note(balance.Outcome{Kind: balance.Finished, At: now, Node: t.Worker, Class: l.request.Class})
	c.peers.Ended(now, l.class(), l.task().Worker, r)
	if !r.Succeeded() { // the time to a failure measures nothing
		l.expectation.Expected = 0
	}
	c.attemptReturned(now, &l.expectation, t.Worker, true)
	c.ResumeAwaitingProof()
	if t.Option == 0 {
		l.expectation.Speedup = l.job.spec.Needs.SpeedupKnown(r.Option)
	}
	if c.peers.Learn(l.level(), t.Worker, l.job.spec, &l.expectation, r, now.Sub(l.expectation.Made),
		time.Duration(c.wall.At(now).UnixNano()-t.Placed)-r.Waited-r.Wall) {
		c.redate(l.class())
	}
	c.endAttempt(now, l, r, fx)
}

// redate gives the attempts of a class as long as it is now known to take.
func (c *Coordinator) redate(class string) {
	for l := range c.live.All() {
		if l.class() != class {
			continue
		}
		c.peers.Redate(&l.expectation, l.task().Worker, l.level())
		if l.backup != nil {
			c.peers.Redate(&l.backup.expectation, l.backup.worker, l.level())
		}
	}
}

package coordinator

import (
	"skep/grid"
	"skep/node/coordinator/offered"
)

// voteAnswered handles a member's answer to a campaign.
func (c *Coordinator) voteAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	j := c.job(a.Job)
	if c.isOutsider(j, from) {
		c.countOffence(from, fx)
		return
	}
	if j != nil && j.replica.OpenedAnswered(from, a) {
		c.followRegisters(now, fx)
		return
	}
	if j == nil || j.replica.CampaignEpoch() == 0 || !possibleEntries(j.spec, a.Entries, 0) {
		c.stats.Stale++
		return
	}
	rep := j.replica
	if c.admitEntries(j, a.Entries, 0, fx) != "" {
		c.stats.Full++
		rep.GiveUpCampaign(now)
		c.rechargeJob(j)
		return
	}
	rep.VoteAnswered(now, from, a, fx)
	c.rechargeJob(j)
	c.followRegisters(now, fx)
}

// followRegisters makes the jobs follow the changes of their registers, in the order of these.
func (c *Coordinator) followRegisters(now grid.Time, fx *grid.Effects) {
	for x, ok := c.replicas.NextChange(); ok; x, ok = c.replicas.NextChange() {
		if j := c.job(x.Job); j != nil {
			c.followRegister(now, j, x, fx)
		} else if x.Caller != 0 {
			fx.Reply(x.Caller, x.Job, unknownHere(x.Job))
		}
	}
}

func (c *Coordinator) followRegister(now grid.Time, j *job, x grid.RegisterChange, fx *grid.Effects) {
	switch x.Kind {
	case grid.RegisterLost:
		c.dropOwnership(now, j, fx)
	case grid.RegisterWritten:
		c.saveEntry(j, x.Index, fx)
		c.applyEntry(j, x.Index, fx)
	case grid.RegisterMerged:
		c.applyRegister(j, fx)
	case grid.RegisterOwned, grid.RegisterRenewed:
		c.ownershipWon(now, j, x.Kind == grid.RegisterRenewed, fx)
	case grid.RegisterMoved:
		c.ownerLearned(now, j, fx)
	case grid.RegisterClosed:
		c.jobClosed(now, j, fx)
	case grid.RegisterVoid:
		c.changed(grid.JobChange{Kind: grid.JobOver, Job: j.id})
		c.forgetJob(j, fx)
	case grid.RegisterOver:
		c.changed(grid.JobChange{Kind: grid.JobOver, Job: j.id})
	case grid.RegisterReopened:
		c.jobReopened(now, j, fx)
	case grid.RegisterReseated:
		c.membersChanged(now, j, fx)
	case grid.RegisterUnneeded:
		c.forgetJob(j, fx)
	case grid.RegisterForgotten:
		c.replyAll(&j.replica.submitters, j.id, fx)
		c.buryJob(j, byMembers, fx)
	case grid.RegisterCurrent, grid.RegisterOutdated, grid.RegisterUncertain:
		c.currentKnown(now, j, x, fx)
	}
}

// applyRegister saves every entry of the register and applies it to the job.
func (c *Coordinator) applyRegister(j *job, fx *grid.Effects) {
	for i := range j.replica.Written() {
		c.saveEntry(j, i, fx)
		c.applyEntry(j, i, fx)
	}
	if v, _ := j.replica.Value(j.spec.Count); v == nil && j.cancelled {
		c.saveEntry(j, j.spec.Count, fx)
		c.applyEntry(j, j.spec.Count, fx)
	}
}

// ownershipWon begins to decide about a job. Attempts of earlier epochs may still run: during the takeover grace
// nothing is placed, and attempts that workers report are adopted. An owner that only renews its epoch goes on as
// before: nobody else has acted.
func (c *Coordinator) ownershipWon(now grid.Time, j *job, renewed bool, fx *grid.Effects) {
	rep := j.replica
	if !renewed {
		c.dequeueJob(j)
		for i, t := range j.tasks.Known() {
			if t.State() != grid.Ended {
				t.Attempt, t.Worker = j.lastKnown(i)
			}
		}
		rep.graceUntil, rep.fullHistoryFrom = now.Add(c.cfg.Lease), rep.State().Epoch
		j.quietAt = now.Add(c.cfg.TakeoverDelay) // earlier owners may have let attempts start
		c.grace = append(c.grace, graceEntry{j, rep.graceUntil})
		fx.Wake(rep.graceUntil, grid.TimerRegister, graceKey)
		c.takenOver = append(c.takenOver, j.id)
		c.watchDeadline(now, j, fx)
	}
	c.ownerLearned(now, j, fx)
	c.deposits.ReplicateInputs(now, &rep.files)
	c.scheduleTick(now, fx)
	c.retryPending(now, j, fx)
	if cancelled, _ := rep.Cancelled(); cancelled {
		c.startBulkEnd(now, j, fx)
	}
}

// lastKnown is the newest attempt of a task that a new owner knows: that of the recorded failure, or none.
func (j *job) lastKnown(i uint32) (a grid.Attempt, worker grid.NodeID) {
	if v := j.openEntry(i); v != nil {
		return v.Attempt, v.Worker
	}
	return a, worker
}

// dropOwnership forgets what this node knew as a job's owner: another node may own it since and have done anything.
func (c *Coordinator) dropOwnership(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	j.account, rep.graceUntil, rep.provisional, rep.offers = nil, 0, false, offered.Book{}
	rep.bulkEnd.Stop()
	rep.files.StepDown()
	rep.callers.Refuse(j.id, fx)
	if j.barrier != nil && len(j.barrier.Callers()) == 0 { // callers that wait for a committed cancellation keep waiting
		c.lowerBarrier(j)
	}
	c.dropGang(now, j, fx)
	c.dequeueJob(j)
	for i, t := range j.tasks.Known() {
		if t.Live != nil {
			c.dropLive(t.Live)
		}
		if t.State() != grid.Ended {
			c.setState(j, i, grid.Pending, fx)
		} else if t.Uncommitted() && j.openEntry(i) != nil {
			c.reopen(j, i, fx)
		}
	}
}

// placeUnreported ends a takeover grace that is over, once a majority answers: tasks that no worker has reported are
// placed again, or end as lost if they may run at most once. Only workers know the attempts of earlier epochs.
func (c *Coordinator) placeUnreported(now grid.Time, j *job, fx *grid.Effects) {
	if rep := j.replica; rep.graceUntil == 0 || now < rep.graceUntil {
		return
	} else if !c.mayAct(now, j) {
		c.awaitMajority(j)
		return
	}
	j.replica.graceUntil, j.nextFresh = 0, 0
	c.countMoves(j, fx)
	c.countFailure(j)
	switch {
	case c.settleGang(now, j, fx):
	case j.cancelled: // continueBulkEnd ends its tasks
	case j.spec.Retries == 0:
		c.startBulkEnd(now, j, fx)
	default:
		c.enqueueJob(j)
	}
}

// forgoUnreported handles an attempt of an earlier epoch that comes back without having run, of a task that may run at
// most once. The earlier owner may have received the same answer and made another attempt, unknown here. So the task
// is not placed again; it ends as lost unless a worker reports it before the takeover grace is over. It reports
// whether it handled the task.
func (c *Coordinator) forgoUnreported(now grid.Time, l *liveTask, fx *grid.Effects) bool {
	rep := l.job.replica
	if l.job.spec.Retries > 0 || l.task().Attempt.Epoch >= rep.fullHistoryFrom {
		return false
	}
	j, i := l.job, l.index
	c.setState(j, i, grid.Pending, fx)
	c.saveEntry(j, i, fx)
	c.dropLive(l)
	if rep.graceUntil == 0 {
		c.endAsLost(now, j, i, fx)
	}
	return true
}

// endAsLost ends a task that may run at most once and that no worker reports.
func (c *Coordinator) endAsLost(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	c.stats.Lost++
	c.end(now, j, i, unreportedResult, fx)
}

// adoptAttempt takes over an attempt of an earlier owner that a worker reports, unless this node knows a newer attempt
// of the task. An attempt of an epoch of which this node knows every attempt is known, or was never made.
func (c *Coordinator) adoptAttempt(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	j := c.job(id.Task.Job)
	if j == nil || !j.replica.IsOwner() || id.Task.Index >= j.spec.Count ||
		id.Attempt == (grid.Attempt{}) || id.Epoch >= j.replica.fullHistoryFrom || !j.mayAdopt(id) {
		return
	}
	t := j.tasks.At(id.Task.Index)
	if recorded, _ := j.isRecorded(id); recorded || t.State() == grid.Ended || !t.Attempt.Less(id.Attempt) {
		return
	}
	if v := j.openEntry(id.Task.Index); v != nil && c.backoffLeft(now, v) > 0 {
		return // it was made before that failure was recorded
	} else if t.Live != nil {
		c.dropLive(t.Live)
	}
	t.Attempt, t.Worker, t.Placed = id.Attempt, from, c.wall.At(now).UnixNano()
	t.Option = 0 // the worker's result will tell
	t.Pulls, t.Moves = j.mostMoves(id.Attempt)
	l := c.newLiveTask(j, id.Task.Index)
	c.live.Accept(l)
	c.peers.Start(now, &l.expectation)
	c.setState(j, id.Task.Index, grid.Placed, fx)
	c.saveEntry(j, id.Task.Index, fx)
	c.trace(t, grid.Trace{At: now, What: grid.TraceAccepted, Node: from})
	c.renewLease(now, l, fx)
	if j.spec.IsGang() {
		c.adoptRank(now, j, id.Attempt, fx)
	}
}

// graceEntry is a job in its takeover grace.
type graceEntry struct {
	job   *job
	until grid.Time
}

// endGrace places the unreported tasks of the jobs whose takeover grace is over. Entries expire in FIFO order: all
// share one duration.
func (c *Coordinator) endGrace(now grid.Time, fx *grid.Effects) {
	for len(c.grace) > 0 && now >= c.grace[0].until {
		j := c.grace[0].job
		c.grace[0], c.grace = graceEntry{}, c.grace[1:]
		c.placeUnreported(now, j, fx)
	}
}

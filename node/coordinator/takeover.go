package coordinator

import "skep/grid"

// voteAnswered handles a member's answer to a campaign.
func (c *Coordinator) voteAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	j := c.job(a.Job)
	if c.isOutsider(j, from) {
		c.countOffence(from, fx)
		return
	}
	if j == nil || j.replica.CampaignEpoch() == 0 {
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
		}
	}
}

func (c *Coordinator) followRegister(now grid.Time, j *job, x grid.RegisterChange, fx *grid.Effects) {
	switch x.Kind {
	case grid.RegisterLost:
		c.dropOwnership(j, fx)
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
		c.worker.ForgetRegistered(j.id, fx)
		c.forgetJob(j, fx)
	case grid.RegisterOver:
		c.worker.ForgetRegistered(j.id, fx)
	case grid.RegisterForgotten:
		c.replyAll(&j.replica.submitters, j.id, fx)
		c.buryJob(j, fx)
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

// ownershipWon begins to decide about a job. Attempts of earlier epochs may still run: during the takeover grace nothing
// is placed, and attempts that workers claim are adopted. An owner that only renews its epoch goes on as before: nobody
// else has acted.
func (c *Coordinator) ownershipWon(now grid.Time, j *job, renewed bool, fx *grid.Effects) {
	rep := j.replica
	if !renewed {
		c.dequeueJob(j)
		for _, t := range j.known() {
			if t.state != grid.Ended {
				t.attempt, t.worker = grid.Attempt{}, grid.NodeID{}
			}
		}
		rep.graceUntil, rep.fullHistoryFrom = now.Add(c.cfg.Lease), rep.State().Epoch
		j.quietAt = now.Add(c.cfg.TakeoverDelay) // earlier owners may have let attempts start
		c.grace = append(c.grace, graceEntry{j, rep.graceUntil})
		fx.Wake(rep.graceUntil, grid.TimerRegister, graceKey)
		c.takenOver = append(c.takenOver, j.id)
	}
	c.ownerLearned(now, j, fx)
	c.deposits.ReplicateInputs(now, &rep.files)
	c.scheduleTick(now, fx)
	if cancelled, _ := rep.Cancelled(); cancelled {
		c.startBulkEnd(now, j, fx)
	}
}

// dropOwnership forgets what this node knew as a job's owner: another node may own it since and have done anything.
func (c *Coordinator) dropOwnership(j *job, fx *grid.Effects) {
	j.replica.graceUntil, j.replica.provisional, j.replica.bulkEnd.on = 0, false, false
	j.replica.files.StepDown()
	for _, x := range j.replica.cancellers {
		fx.Reply(x, j.id, "another node has taken the job over: cancel it again")
	}
	j.replica.cancellers = nil
	if j.barrier != nil && len(j.barrier.callers) == 0 { // callers that wait for a committed cancellation keep waiting
		c.lowerBarrier(j)
	}
	c.dequeueJob(j)
	for i, t := range j.known() {
		if t.live != nil {
			c.dropLive(t.live)
		}
		if t.state != grid.Ended {
			c.setState(j, i, grid.Pending, fx)
		}
	}
}

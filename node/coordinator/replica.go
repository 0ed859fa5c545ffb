package coordinator

import (
	"skep/grid"
	"skep/node/coordinator/bulk"
	"skep/node/coordinator/callers"
	"skep/node/coordinator/offered"
	"skep/node/deposit"
	"skep/node/quota"
)

// replica is this node's replica of a job's register, and what waits for the register here.
type replica struct {
	Register
	membersVerified bool      // the job's origin named the members
	submitters      []uint64  // callers to answer once a majority holds the job
	confirmBy       grid.Time // deadline for answering them otherwise
	callers         callers.List
	fullHistoryFrom uint32    // owner only: it knows every attempt from this epoch on; 0 = it is the first owner
	provisional     bool      // origin only: no majority has answered yet
	leasesDenied    bool      // owner only: work that waits at its workers has no start lease for want of a majority
	closing         bool      // every task has ended, and the members are about to be told
	graceUntil      grid.Time // end of the takeover grace; 0 = none, or over
	tellUntil       grid.Time // owner only: workers are told who keeps the job until then
	files           deposit.Files
	bulkEnd         bulk.Progress
	offers          offered.Book // owner only
	footprint
}

// authoritative reports whether this node can tell what became of a job's attempts: it is the owner, or the job is
// closed.
func (j *job) authoritative() bool {
	return j.replica.IsOwner() || j.replica.State().Done
}

// leads reports whether this node owns the register of a job that is not closed.
func (j *job) leads() bool { return j.replica.Leads() }

// ownerKnown returns the owner of the job's register, as far as known here.
func (j *job) ownerKnown() grid.NodeID {
	owner, _, _ := j.replica.Owner()
	return owner
}

// mayAct reports whether this node may act as the job's owner: it holds the quorum lease.
func (c *Coordinator) mayAct(now grid.Time, j *job) bool {
	return j.replica.MayAct(now)
}

// replicated returns the job of a replica; nil if it is not here any more.
func (c *Coordinator) replicated(r Register) *job {
	if j := c.job(r.Job()); j != nil && j.replica.Register == r {
		return j
	}
	return nil
}

// newReplica creates a job and this node's replica of its register.
func (c *Coordinator) newReplica(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID,
	s grid.RegisterState) *job {
	j := c.newJob(id, spec, submitted)
	r := c.replicas.Add(id, spec, submitted, members, s)
	j.replica = &replica{Register: r, files: c.deposits.NewFiles(spec, r),
		footprint: footprint{base: quota.JobBytes(spec)}}
	return j
}

// proposeEnd writes a task's end to the register; the end becomes visible, or the task goes on, once it is committed.
func (c *Coordinator) proposeEnd(now grid.Time, j *job, e *grid.Entry, fx *grid.Effects) {
	i := e.Index
	j.tasks.Propose(i, e.Round)
	j.replica.Propose(e)
	c.matchDeposit(j, i, fx)
	if j.replica.Sole() && e.Open() {
		c.goOn(now, j, i, fx)
		return
	}
	c.saveEntry(j, i, fx)
	c.rechargeJob(j)
	if j.replica.Sole() {
		c.publishEnd(j, i, fx)
		c.releaseWorker(j, i, fx)
		c.closeSole(now, j, fx)
	}
}

// writeAnswered handles a member's answer to a write.
func (c *Coordinator) writeAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	j := c.job(a.Job)
	if j == nil {
		c.stats.Stale++
		return
	}
	if c.isOutsider(j, from) {
		c.countOffence(from, fx)
		return
	}
	rep, mayActBefore := j.replica, c.mayAct(now, j)
	finals, valid := rep.Answered(now, from, a, c.scratch.finals[:0], fx)
	c.scratch.finals = finals
	if !valid { // it may have told of other members all the same
		c.stats.Stale++
		c.followRegisters(now, fx)
		return
	}
	c.askDeposits(now, j, fx)
	// another owner closed the job
	if (a.Answer == grid.RegisterDone || a.Answer == grid.RegisterGone) && !rep.State().Done {
		rep.StepDown()
		rep.Campaign(now, c.reachMembers(now, j, fx), fx)
	}
	c.followRegisters(now, fx)
	for _, i := range finals {
		c.committed(now, j, i, fx)
	}
	if rep.Ready() {
		rep.provisional = false
		c.confirmSubmission(now, j, fx)
		c.scheduleClose(now, j, fx)
	}
	if rep.IsOwner() {
		j.replica.MarkDirty()
	}
	if !mayActBefore && c.mayAct(now, j) {
		c.resumeJob(now, j, fx)
	}
}

// committed carries out what waited for a majority: the end is visible now, and the worker may forget it.
func (c *Coordinator) committed(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	if i < j.spec.Count && j.at(i).Uncommitted() && j.openEntry(i) != nil {
		c.goOn(now, j, i, fx)
		c.answerCallers(now, j, i, false, fx)
		return
	}
	c.saveEntry(j, i, fx)
	if i == j.spec.Count {
		c.answerCancellers(now, j, fx)
		c.answerCallers(now, j, i, false, fx)
		return
	}
	fx.Saves[len(fx.Saves)-1].Later = true // this node is one of the majority: after a crash it learns the commit again
	if i > j.spec.Count {
		c.dependencyCommitted(now, j, i, fx)
		c.moveRecorded(now, j, i, fx)
		c.offersWritten(j, i)
		return
	}
	if t := j.tasks.At(i); !t.Uncommitted() {
		return
	}
	c.publishEnd(j, i, fx)
	c.releaseWorker(j, i, fx)
	c.answerCallers(now, j, i, true, fx)
}

// tickReplica repeats what is unanswered, and reports whether anything is left to do.
func (c *Coordinator) tickReplica(now grid.Time, r Register, fx *grid.Effects) bool {
	j := c.replicated(r)
	if j == nil || r.State().Done && !r.IsOwner() {
		return false
	}
	c.tickDeposits(now, j, fx)
	c.answerUnconfirmed(now, j, fx)
	reached := c.reachMembers(now, j, fx)
	if !r.IsOwner() {
		r.CampaignIfDue(now, reached, fx)
		c.followRegisters(now, fx)
		return c.replicated(r) != nil
	}
	settled := r.Repeat(now, fx)
	if r.State().Done {
		return r.CountCloseNotice() && !settled
	}
	c.replaceMembers(now, j, fx)
	c.placeUnreported(now, j, fx)
	c.continueBulkEnd(now, j, fx)
	c.releaseOffers(now, j, fx)
	r.RenewIfDue(now, reached, fx)
	return true
}

// scheduleTick sets the timer for the next check of the registers, a third of a lease from now. Without replicas there
// is no timer.
func (c *Coordinator) scheduleTick(now grid.Time, fx *grid.Effects) {
	if !c.registerWake && (c.replicas.AnyOpen() || len(c.replicas.Asking()) > 0) {
		c.registerWake = true
		fx.Wake(now.Add(c.cfg.Lease/3), grid.TimerRegister, tickKey)
	}
}

// registerTimer handles the timers of registers.
func (c *Coordinator) registerTimer(now grid.Time, key uint64, fx *grid.Effects) {
	switch key {
	case tickKey:
		c.tickRegisters(now, fx)
	case graceKey:
		c.endGrace(now, fx)
	case barrierKey:
		c.checkBarriers(now, fx)
	case bulkEndKey:
		c.continueBulkEnds(now, fx)
	case closeKey:
		c.closeJobs(now, fx)
	case keepKey:
		c.kept.Woke(now)
	}
}

// repeatQuestions asks again what members have not answered that callers wait for.
func (c *Coordinator) repeatQuestions(now grid.Time, fx *grid.Effects) {
	for _, r := range c.replicas.Asking() {
		if j := c.replicated(r); j == nil {
			r.RepeatOpened(grid.Never, nil, fx)
		} else {
			r.RepeatOpened(now, c.reachMembers(now, j, fx), fx)
		}
	}
	c.followRegisters(now, fx)
}

// Keys of TimerRegister.
const (
	tickKey = iota
	graceKey
	SubmissionsKey // left to the node, for submissions whose members are not chosen yet
	barrierKey
	closeKey
	bulkEndKey
	keepKey
)

// tickRegisters checks every replica whose job is not closed.
func (c *Coordinator) tickRegisters(now grid.Time, fx *grid.Effects) {
	c.registerWake = false
	var done []Register
	for r := range c.replicas.Open() {
		if !c.tickReplica(now, r, fx) {
			done = append(done, r)
		}
	}
	c.replicas.Retire(done)
	c.repeatQuestions(now, fx)
	c.dropUnowned()
	c.scratch.payers = c.deposits.Payers(c.scratch.payers[:0])
	c.replicas.SendKeepalives(now, c.scratch.payers, fx)
	c.scheduleTick(now, fx)
}

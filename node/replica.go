package node

import (
	"skep/grid"
	"skep/node/deposit"
	"skep/node/quota"
	"skep/node/replication"
)

// replica is this node's replica of a job's register, and what waits for the register here.
type replica struct {
	*replication.Replica
	submitters       []uint64    // callers to answer once a majority holds the job
	confirmBy        grid.Time   // deadline for answering them otherwise
	cancellers       []uint64    // callers to answer once the cancellation is committed
	fullHistoryFrom  uint32      // owner only: it knows every attempt from this epoch on
	provisional      bool        // origin only: no majority has answered yet
	leasesDenied     bool        // owner only: work that waits at its workers has no start lease for want of a majority
	closing          bool        // every task has ended, and the members are about to be told
	graceUntil       grid.Time   // end of the takeover grace; 0 = none, or over
	awaitingMajority []*liveTask // owner only: tasks that wait for a majority
	files            deposit.Files
	bulkEnd          bulkEnd
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

// members returns the members of the job's register for an offer; nil = this node alone has it, which needs no words.
func (j *job) members() []grid.NodeID {
	if j.replica.Sole() {
		return nil
	}
	return j.replica.Members()
}

// mayAct reports whether this node may act as the job's owner: it holds the quorum lease.
func (n *Node) mayAct(now grid.Time, j *job) bool {
	return n.replicas.MayAct(now, j.replica.Replica)
}

// replicated returns the job of a replica; nil if it is not here any more.
func (n *Node) replicated(r *replication.Replica) *job {
	if j := n.job(r.Job()); j != nil && j.replica.Replica == r {
		return j
	}
	return nil
}

// newReplica creates a job with a register.
func (n *Node) newReplica(id grid.JobID, spec *grid.JobSpec, submitted int64, members []grid.NodeID, s replication.State) *job {
	j := n.newJob(id, spec, submitted)
	r := n.replicas.Add(id, spec, submitted, members, s)
	j.replica = &replica{Replica: r, files: n.deposits.NewFiles(spec, r), footprint: footprint{base: jobBytes + quota.SpecBytes(spec)}}
	return j
}

// proposeEnd writes a task's end to the register; the end becomes visible once it is committed.
func (n *Node) proposeEnd(j *job, i uint32, r *grid.Result, fx *grid.Effects) {
	t := j.task(i)
	t.uncommitted = true
	j.uncommitted++
	n.replicas.Propose(j.replica.Replica, &grid.Entry{Index: i, Attempt: t.attempt, Worker: t.worker, Lost: t.lost, Result: r,
		Placed: t.placed, Began: t.began, Done: t.done})
	n.matchDeposit(j, i, fx)
	n.saveEntry(j, i, fx)
	n.rechargeJob(j)
	if j.replica.Sole() {
		n.publishEnd(j, i, fx)
		n.releaseWorker(j, i, fx)
		n.closeSole(j, fx)
	}
}

// writeAnswered handles a member's answer to a write.
func (n *Node) writeAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	j := n.job(a.Job)
	if j == nil {
		n.stats.Stale++
		return
	}
	if n.isOutsider(j, from) {
		n.countOffence(from, fx)
		return
	}
	rep, mayActBefore := j.replica, n.mayAct(now, j)
	finals, valid := n.replicas.Answered(now, from, rep.Replica, a, n.scratch.finals[:0])
	n.scratch.finals = finals
	if !valid {
		n.stats.Stale++
		return
	}
	n.askDeposits(now, j, fx)
	if (a.Answer == grid.RegisterDone || a.Answer == grid.RegisterGone) && !rep.State().Done { // another owner closed the job
		n.replicas.StepDown(rep.Replica)
		n.replicas.Campaign(now, rep.Replica, fx)
	}
	n.followRegisters(now, fx)
	for _, i := range finals {
		n.committed(now, j, i, fx)
	}
	if rep.Ready() {
		rep.provisional = false
		n.confirmSubmission(now, j, fx)
		n.scheduleClose(now, j, fx)
	}
	if rep.IsOwner() {
		n.replicas.MarkDirty(j.replica.Replica)
	}
	if !mayActBefore && n.mayAct(now, j) {
		n.resumeJob(j)
	}
}

// committed carries out what waited for a majority: the end is visible now, and the worker may forget it.
func (n *Node) committed(now grid.Time, j *job, i uint32, fx *grid.Effects) {
	n.saveEntry(j, i, fx)
	if i == j.spec.Count {
		n.answerCancellers(now, j, fx)
		return
	}
	fx.Saves[len(fx.Saves)-1].Later = true // this node is one of the majority: after a crash it learns the commit again
	t := j.task(i)
	if !t.uncommitted {
		return
	}
	n.publishEnd(j, i, fx)
	n.releaseWorker(j, i, fx)
}

// answerCancellers answers those who wait for the job's cancellation, once nothing of it can start any more.
func (n *Node) answerCancellers(now grid.Time, j *job, fx *grid.Effects) {
	for _, c := range j.replica.cancellers {
		n.awaitBarrier(now, j, c, fx)
	}
	j.replica.cancellers = nil
}

// publishEnd makes a task's end visible.
func (n *Node) publishEnd(j *job, i uint32, fx *grid.Effects) {
	t := j.task(i)
	t.uncommitted = false
	j.uncommitted--
	j.done = max(j.done, t.done)
	if t.result.Exit != 0 {
		j.failed++
		j.exit = max(j.exit, t.result.Exit)
	}
	fx.Changed = append(fx.Changed, grid.TaskID{Job: j.id, Index: i})
}

package node

import (
	"skep/grid"
	"skep/node/replication"
)

// voteAnswered handles a member's answer to a campaign.
func (n *Node) voteAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	j := n.job(a.Job)
	if n.isOutsider(j, from) {
		n.countOffence(from, fx)
		return
	}
	if j == nil || j.replica.CampaignEpoch() == 0 {
		n.stats.Stale++
		return
	}
	rep := j.replica
	if n.admitEntries(j, a.Entries, 0, fx) != "" {
		n.stats.Full++
		n.replicas.GiveUpCampaign(now, rep.Replica)
		n.rechargeJob(j)
		return
	}
	n.replicas.VoteAnswered(now, from, rep.Replica, a, fx)
	n.rechargeJob(j)
	n.followRegisters(now, fx)
}

// followRegisters makes the jobs follow the changes of their registers, in the order of these.
func (n *Node) followRegisters(now grid.Time, fx *grid.Effects) {
	for c, ok := n.replicas.NextChange(); ok; c, ok = n.replicas.NextChange() {
		if j := n.replicated(c.Of); j != nil {
			n.followRegister(now, j, c, fx)
		}
	}
}

func (n *Node) followRegister(now grid.Time, j *job, c replication.Change, fx *grid.Effects) {
	switch c.Kind {
	case replication.Lost:
		n.dropOwnership(j, fx)
	case replication.Written:
		n.saveEntry(j, c.Index, fx)
		n.applyEntry(j, c.Index, fx)
	case replication.Merged:
		n.applyRegister(j, fx)
	case replication.Owned, replication.Renewed:
		n.ownershipWon(now, j, c.Kind == replication.Renewed, fx)
	case replication.Moved:
		n.ownerLearned(now, j, fx)
	case replication.Closed:
		n.jobClosed(now, j, fx)
	case replication.Void:
		n.worker.ForgetRegistered(j.id, fx)
		n.forgetJob(j, fx)
	case replication.Over:
		n.worker.ForgetRegistered(j.id, fx)
	case replication.Gone:
		n.replyAll(&j.replica.submitters, j.id, fx)
		n.buryJob(j, fx)
	}
}

// applyRegister saves every entry of the register and applies it to the job.
func (n *Node) applyRegister(j *job, fx *grid.Effects) {
	for i := range j.replica.Written() {
		n.saveEntry(j, i, fx)
		n.applyEntry(j, i, fx)
	}
	if v, _ := j.replica.Value(j.spec.Count); v == nil && j.cancelled {
		n.saveEntry(j, j.spec.Count, fx)
		n.applyEntry(j, j.spec.Count, fx)
	}
}

// ownershipWon begins to decide about a job. Attempts of earlier epochs may still run: during the takeover grace nothing
// is placed, and attempts that workers claim are adopted. An owner that only renews its epoch goes on as before: nobody
// else has acted.
func (n *Node) ownershipWon(now grid.Time, j *job, renewed bool, fx *grid.Effects) {
	rep := j.replica
	if !renewed {
		n.dequeueJob(j)
		for _, t := range j.known() {
			if t.state != grid.Ended {
				t.attempt, t.worker = grid.Attempt{}, grid.NodeID{}
			}
		}
		rep.graceUntil, rep.fullHistoryFrom = now.Add(n.cfg.Lease), rep.State().Epoch
		j.quietAt = now.Add(replication.TakeoverDelay(n.cfg.Lease)) // earlier owners may have let attempts start
		n.grace = append(n.grace, graceEntry{j, rep.graceUntil})
		fx.Wake(rep.graceUntil, grid.TimerRegister, graceKey)
		n.takenOver = append(n.takenOver, j.id)
	}
	n.ownerLearned(now, j, fx)
	n.deposits.ReplicateInputs(now, &rep.files)
	n.scheduleTick(now, fx)
	if cancelled, _ := rep.Cancelled(); cancelled {
		n.startBulkEnd(now, j, fx)
	}
}

// dropOwnership forgets what this node knew as a job's owner: another node may own it since and have done anything.
func (n *Node) dropOwnership(j *job, fx *grid.Effects) {
	j.replica.graceUntil, j.replica.provisional, j.replica.bulkEnd.on = 0, false, false
	j.replica.files.StepDown()
	for _, c := range j.replica.cancellers {
		fx.Reply(c, j.id, "another node has taken the job over: cancel it again")
	}
	j.replica.cancellers = nil
	if j.barrier != nil && len(j.barrier.callers) == 0 { // callers that wait for a committed cancellation keep waiting
		n.lowerBarrier(j)
	}
	n.dequeueJob(j)
	for i, t := range j.known() {
		if t.live != nil {
			n.dropLive(t.live)
		}
		if t.state != grid.Ended {
			n.setState(j, i, grid.Pending, fx)
		}
	}
}

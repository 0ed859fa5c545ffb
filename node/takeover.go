package node

import (
	"time"

	"skep/grid"
	"skep/register"
)

// maybeCampaign campaigns if the owner has been silent for long enough. Members later in the succession wait longer, so
// that they seldom campaign at once.
func (n *Node) maybeCampaign(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	from := n.ownerLastAnswered(j).Add(takeoverDelay(n.cfg.Lease) + time.Duration(n.successionRank(j))*n.cfg.Lease/2)
	if rep.unlisted {
		from = rep.lastWrite.Add(takeoverDelay(n.cfg.Lease))
	}
	if now >= max(from, rep.campaignAt) {
		n.campaign(now, j, fx)
	}
}

// successionRank is the number of members that come before this one if the owner is gone.
func (n *Node) successionRank(j *job) int {
	r := j.replica.reg
	k := len(r.Members())
	return (r.Place(n.cfg.Self) - r.Place(j.replica.owner) - 1 + 2*k) % k
}

// campaign begins a campaign, or repeats its requests.
func (n *Node) campaign(now grid.Time, j *job, fx *grid.Effects) {
	rep := j.replica
	if rep.reg.CampaignEpoch() <= max(rep.promisedElsewhere, rep.reg.State().Promised) {
		rep.reg.Campaign(rep.promisedElsewhere)
	}
	for place, id := range rep.reg.Members() {
		if !n.reachMember(now, j, id, fx) {
			continue
		}
		m := fx.Send(id, grid.KindCampaign)
		m.Register.Job = j.id
		if !rep.reg.VoteRequest(place, &m.Register) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		} else if m.Register.Next == 0 {
			n.describeJob(now, j, &m.Register)
		}
	}
}

// voteAnswered handles a member's answer to a campaign.
func (n *Node) voteAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	j := n.job(a.Job)
	if n.isOutsider(j, from) {
		n.countOffence(from, fx)
		return
	}
	if j == nil || j.replica == nil || j.replica.reg.CampaignEpoch() == 0 {
		n.stats.Stale++
		return
	}
	rep := j.replica
	if n.admitEntries(j, a.Entries, 0, fx) != "" {
		n.stats.Full++
		rep.reg.EndCampaign()
		n.rechargeJob(j)
		n.delayCampaign(now, j)
		return
	}
	n.convertTimes(now, a.Entries)
	wasOwner := rep.reg.IsOwner()
	n.ownerTerms++
	switch outcome := rep.reg.VoteReceived(from, a, n.cfg.Boot<<40|n.ownerTerms<<20); outcome {
	case register.CampaignWon, register.CampaignRenewed:
		renewed := outcome == register.CampaignRenewed
		if wasOwner && !renewed {
			n.dropOwnership(j, fx)
		}
		n.becomeOwner(now, j, renewed, fx)
	case register.CampaignLost:
		if a.Answer == grid.RegisterHigher {
			n.sawHigherEpoch(now, j, a, fx)
		}
		n.delayCampaign(now, j)
	case register.CampaignVoid:
		if wasOwner {
			n.stepDown(j, fx)
		}
		n.forgetAttempts(now, j, fx)
		n.forgetJob(j, fx)
	case register.CampaignDone:
		if wasOwner {
			n.stepDown(j, fx)
		}
		n.saveRegister(j, fx)
		n.jobClosed(now, j, fx)
	case register.CampaignOpen:
		n.rechargeJob(j)
		m := fx.Send(from, grid.KindCampaign)
		m.Register.Job = j.id
		if !a.More || uint64(a.Next) <= a.Seq || !rep.reg.VoteRequest(rep.reg.Place(from), &m.Register) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		}
	}
}

// delayCampaign makes a member wait after a failed campaign, with jitter.
func (n *Node) delayCampaign(now grid.Time, j *job) {
	d := n.cfg.Lease / 2
	j.replica.campaignAt = now.Add(d + time.Duration(n.rng.Int64N(int64(d)*int64(1+n.successionRank(j)))))
}

// sawHigherEpoch records that a member has promised a higher epoch, and perhaps who owns it.
func (n *Node) sawHigherEpoch(now grid.Time, j *job, a *grid.RegisterMessage, fx *grid.Effects) {
	rep := j.replica
	if a.Epoch > rep.promisedElsewhere {
		rep.promisedElsewhere = a.Epoch
		n.delayCampaign(now, j)
	}
	if a.Epoch <= rep.epoch || a.Owner.IsZero() || a.Owner == n.cfg.Self || rep.reg.Place(a.Owner) < 0 {
		return
	}
	if rep.reg.IsOwner() {
		n.stepDown(j, fx)
	}
	n.learnOwner(now, j.id, a.Epoch, a.Owner, fx)
}

// saveRegister saves the whole register and applies it to the job.
func (n *Node) saveRegister(j *job, fx *grid.Effects) {
	n.saveReplica(j, fx)
	n.rechargeJob(j)
	for i := range j.replica.reg.Written() {
		n.saveEntry(j, i, fx)
		n.applyEntry(j, i, fx)
	}
	if v, _ := j.replica.reg.Value(j.spec.Count); v == nil && j.cancelled {
		n.saveEntry(j, j.spec.Count, fx)
		n.applyEntry(j, j.spec.Count, fx)
	}
}

// becomeOwner makes this node the owner. Attempts of earlier epochs may still run: during the takeover grace nothing is
// placed, and attempts that workers claim are adopted. An owner that only renews its epoch goes on as before: nobody
// else has acted.
func (n *Node) becomeOwner(now grid.Time, j *job, renewed bool, fx *grid.Effects) {
	rep := j.replica
	epoch := rep.reg.State().Epoch
	clear(rep.acked)
	clear(rep.acceptedAt)
	clear(rep.writeSent)
	rep.unlisted = false
	n.saveRegister(j, fx)
	if !renewed {
		n.dequeueJob(j)
		for _, t := range j.known() {
			if t.state != grid.Ended {
				t.attempt, t.worker = grid.Attempt{}, grid.NodeID{}
			}
		}
		rep.graceUntil, rep.fullHistoryFrom = now.Add(n.cfg.Lease), epoch
		j.quietAt = now.Add(takeoverDelay(n.cfg.Lease)) // earlier owners may have let attempts start
		n.grace = append(n.grace, graceEntry{j, rep.graceUntil})
		fx.Wake(rep.graceUntil, grid.TimerRegister, graceKey)
		n.takenOver = append(n.takenOver, j.id)
	}
	n.learnOwner(now, j.id, epoch, n.cfg.Self, fx)
	n.replicateInputs(now, j)
	n.markDirty(j)
	n.scheduleTick(now, fx)
	if cancelled, _ := rep.reg.Cancelled(); cancelled {
		n.startBulkEnd(now, j, fx)
	}
}

// stepDown makes this node a plain member again.
func (n *Node) stepDown(j *job, fx *grid.Effects) {
	j.replica.reg.StepDown()
	n.dropOwnership(j, fx)
}

// dropOwnership forgets what this node knew as a job's owner: another node may own it since and have done anything.
func (n *Node) dropOwnership(j *job, fx *grid.Effects) {
	j.replica.graceUntil, j.replica.provisional, j.replica.inputs, j.replica.replicating, j.replica.bulkEnd = 0, false, nil, nil, bulkEnd{}
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

package node

import (
	"slices"

	"skep/discovery"
	"skep/grid"
	"skep/node/worker"
)

// What the node carries between the worker and the other parts.

// followWorker makes the node follow what has changed at its worker.
func (n *Node) followWorker(now grid.Time, fx *grid.Effects) {
	news := n.worker.News()
	for _, r := range news.Ran {
		n.rates.Ran(now, r.Class, r.Time, fx)
	}
	if news.Ended {
		n.resumeAwaitingProof()
	}
	if news.Changed {
		n.profile.Changed(now, fx)
	}
}

// answerPoll answers when a task would be done here, and exchanges rates.
func (n *Node) answerPoll(now grid.Time, from grid.NodeID, p *grid.Poll, fx *grid.Effects) {
	q := n.peers.get(from)
	if q == nil {
		return
	}
	n.exchangeRates(q, p.Rates, p.Speed, p.Cores, p.Mine, p.Have)
	n.rates.Publish(now)
	own, version := n.rates.Published()
	s := &fx.Send(from, grid.KindState).State
	s.ID, s.Speed, s.Cores, s.Mine, s.Have = p.ID, n.cfg.Speed, n.cfg.Capacity.CPU, version, q.theirVersion
	n.worker.Answer(now, p.Class, p.Needs, s)
	if q.ourVersion != version {
		s.Rates = append(s.Rates, own...)
	}
}

// offerReceived has the worker accept or refuse an offered attempt.
func (n *Node) offerReceived(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	if o.Spec == nil || o.ID.Task.Index >= o.Spec.Count {
		n.stats.Stale++
		return
	}
	job := o.ID.Task.Job
	if j := n.peekJob(job); from == job.Origin && j != nil && !j.replica.MembersVerified && !slices.Equal(j.replica.Members(), o.Members) {
		n.dropForgedReplica(now, j, fx)
	}
	reg := n.registerOf(job, from)
	v, why := n.worker.Consider(from, o, &reg, fx)
	if v == worker.Ignored {
		return
	}
	if v == worker.Fresh {
		if why = n.fitsSelf(o.Spec); why.Why == grid.WhyNone {
			why.Why = n.worker.Refuses(job, o.Spec.Needs.Resources)
		}
		if why.Why == grid.WhyNone {
			why = n.admitOffer(from, o, fx)
		}
		if why.Why == grid.WhyNone {
			n.countReceived(now, from, o)
		}
	}
	n.worker.Reply(now, from, o, v, why, reg.Verified, fx)
	if v == worker.Fresh && why.Why == grid.WhyNone {
		n.learnOwner(now, job, o.ID.Epoch, from, fx) // the offer may be the first message of a new owner
	}
}

// registerOf is what this node knows, as a member, of the register of a job of which another node offers attempts.
func (c *coordinator) registerOf(id grid.JobID, from grid.NodeID) worker.Register {
	j := c.peekJob(id)
	if j == nil && c.replicas.Buried(id) {
		return worker.Register{Known: true, Closed: true, Verified: from == id.Origin}
	}
	if j == nil || j.replica.Sole() {
		return worker.Register{Verified: from == id.Origin}
	}
	r := j.replica
	owner, epoch, _ := r.Owner()
	return worker.Register{Known: true, Members: r.Members(), Owner: owner, Epoch: epoch, Closed: r.State().Done,
		Verified: from == id.Origin || r.MembersVerified}
}

// dropForgedReplica forgets a replica that another node than the job's origin created here, and that the origin does
// not know.
func (c *coordinator) dropForgedReplica(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.IsOwner() {
		j.replica.StepDown()
		c.followRegisters(now, fx)
	}
	at := c.archive.find(j.id)
	c.forgetJob(j, fx)
	if at >= 0 {
		c.archive.remove(c.cfg.Self, at)
	}
}

// returnOverdue hands overdue work back as far as idle nodes have room for it.
func (n *Node) returnOverdue(now grid.Time, fx *grid.Effects) {
	var idle []*grid.Ad
	var free []grid.Resources
	listed := false
	n.worker.ReturnOverdue(now, func(spec *grid.JobSpec) bool {
		if !listed {
			idle, listed = n.idleNodes(), true
			for _, ad := range idle {
				free = append(free, ad.Free)
			}
		}
		for i, ad := range idle {
			if free[i].Fits(spec.Needs.Resources) && discovery.Fit(&spec.Needs, spec.Engine, ad) == grid.WhyNone {
				free[i] = free[i].Minus(spec.Needs.Resources)
				return true
			}
		}
		return false
	}, fx)
}

// idleNodes lists the ads of the connected nodes that take work and have no backlog.
func (n *Node) idleNodes() (idle []*grid.Ad) {
	for _, p := range n.connected() {
		if ad := p.view.Ad; ad != nil && ad.Backlog <= 0 && !ad.Closed() {
			idle = append(idle, ad)
		}
	}
	return idle
}

// membersVerified reports whether the members that a node names for a job come from the job's origin, directly or
// through a verified replica.
func (c *coordinator) membersVerified(id grid.JobID, from grid.NodeID) bool {
	j := c.peekJob(id)
	return from == id.Origin || j != nil && j.replica.MembersVerified
}

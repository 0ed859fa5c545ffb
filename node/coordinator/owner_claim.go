package coordinator

import (
	"slices"

	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/ownercache"
	"skep/node/peers"
)

// Claims of ownership. A takeover message (KindTakeover) counts from a member about itself, and is only a reason to
// ask. An owner sends keepalives to the other members at once and goes on until a majority denies its epoch. A worker
// reports its attempts to the claimant too, asks the other members, and follows the claim when a majority of the
// members agrees. So no single node can make an owner or a worker let go of anything, and a false claim costs a few
// messages each sixth of a lease. Of a signed job the members take no claim without the votes for the claimant.

// LearnOwner records a job's new owner in the replica and in the owner record, and reports this node's attempts to it.
func (c *Coordinator) LearnOwner(now grid.Time, id grid.JobID, epoch uint32, owner grid.NodeID, fx *grid.Effects) {
	if j := c.job(id); j != nil {
		j.replica.Follow(now, epoch, owner)
		c.followRegisters(now, fx)
	}
	c.changed(grid.JobChange{Kind: grid.JobMoved, Job: id, Claim: grid.OwnerClaim{Owner: owner, Epoch: epoch}})
}

// ownerLearned follows a job's new owner, of which its register has told.
func (c *Coordinator) ownerLearned(now grid.Time, j *job, fx *grid.Effects) {
	if j.confirmed() {
		c.replyAll(&j.replica.submitters, j.id, fx)
	}
	owner, epoch, _ := j.replica.Owner()
	c.attemptsChanged(j, 0) // what is due of its budget is done once this node leads again
	if !c.isHere(owner) {
		j.replica.callers.RefuseRetries(j.id, fx)
	}
	c.changed(grid.JobChange{Kind: grid.JobMoved, Job: j.id, Claim: grid.OwnerClaim{Owner: owner, Epoch: epoch}})
}

// TakeoversAnnounced handles a member's announcement that it has taken jobs over.
func (c *Coordinator) TakeoversAnnounced(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if len(m.Attempts) > maxTakeovers {
		c.stats.Stale++
		return
	}
	for _, x := range m.Attempts {
		if c.job(x.Task.Job) == nil {
			c.ownerCache.Add(x.Task.Job, ownercache.Claimant{Node: from, Epoch: x.Epoch, Since: c.wall.At(now).UnixNano()})
		}
		c.ownerClaimed(now, from, &grid.RegisterMessage{Job: x.Task.Job, Owner: from, Epoch: x.Epoch}, true, fx)
	}
}

// redirect tells a worker whom this node considers a job's owner.
func (c *Coordinator) redirect(to grid.NodeID, j *job, fx *grid.Effects) {
	owner, epoch, _ := j.replica.Owner()
	if c.isHere(to) || owner == c.cfg.Self && !j.replica.IsOwner() {
		return
	}
	m := fx.Send(to, grid.KindTakeover)
	m.Register.Job, m.Register.Epoch, m.Register.Owner, m.Register.Set = j.id, epoch, owner, j.replica.State().Set
	m.Register.Mandate = j.replica.Mandate()
}

// announceTakeovers announces the jobs that this node has taken over.
func (c *Coordinator) announceTakeovers(fx *grid.Effects) {
	for len(c.takenOver) > 0 {
		m := fx.Announce(grid.KindTakeover)
		k := min(len(c.takenOver), maxTakeovers)
		for _, id := range c.takenOver[:k] {
			if j := c.job(id); j != nil && j.authoritative() {
				_, epoch, _ := j.replica.Owner()
				m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: epoch}})
			}
		}
		c.takenOver = slices.Delete(c.takenOver, 0, k)
	}
}

// maxTakeovers bounds the jobs in one announcement: an announcement's size is limited.
const maxTakeovers = 128

// ownerClaimed handles a statement about who owns a register, to this node or announced to all.
func (c *Coordinator) ownerClaimed(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, announced bool,
	fx *grid.Effects) {
	x := grid.OwnerClaim{Owner: g.Owner, Epoch: g.Epoch}
	if j := c.job(g.Job); j != nil {
		c.replicaClaimed(now, from, j, g, announced, fx)
		c.followRegisters(now, fx)
	}
	c.changed(grid.JobChange{Kind: grid.JobClaimed, Job: g.Job, From: from, Claim: x, Set: g.Set})
}

// replicaClaimed handles a claim about a register of which this node is a member. A real owner also writes to this
// node.
func (c *Coordinator) replicaClaimed(now grid.Time, from grid.NodeID, j *job, g *grid.RegisterMessage, announced bool,
	fx *grid.Effects) {
	rep := j.replica
	if c.isOutsider(j, from) {
		if rep.membersVerified { // else the members may be forged, and the sender may be a real one
			c.countOffence(from, fx)
		}
		return
	}
	rep.Claimed(now, from, g, announced, fx)
}

// Authority returns the node to ask about a job, and since when in wall time that node owns it. It is this node if it
// owns the job, knows the end, or is a member whose owner is not connected or has evicted the job; else the owner known
// here. For a job with which this node has nothing to do it is the origin while that is connected, else the newest
// claimant. False: nothing is known here; ask the origin.
func (v Views) Authority(id grid.JobID) (who grid.NodeID, since int64, known bool) {
	if j := v.c.peekJob(id); j != nil {
		if j.authoritative() {
			return v.c.cfg.Self, 0, true
		}
		owner, _, since := j.replica.Owner()
		if owner != v.c.cfg.Self && v.c.peers.Connected(owner) && !j.replica.AwaitsOutcome() {
			return owner, since, true
		}
		return v.c.cfg.Self, 0, true
	}
	claimants := v.c.ownerCache.Claimants(id)
	switch {
	case len(claimants) == 0:
		return grid.NodeID{}, 0, false
	case v.c.peers.Connected(id.Origin):
		return id.Origin, 0, true
	}
	return claimants[0].Node, claimants[0].Since, true
}

// Claimants appends the nodes that announced to have taken over a job with which this node has nothing to do, newest
// epoch first. Ask them after the origin: any member of the grid can claim so.
func (v Views) Claimants(id grid.JobID, dst []grid.NodeID) []grid.NodeID {
	if claimants := v.c.ownerCache.Claimants(id); len(claimants) > 0 && v.c.peekJob(id) == nil {
		for _, x := range claimants {
			dst = append(dst, x.Node)
		}
	}
	return dst
}

// ForeignJobs appends the jobs submitted elsewhere whose owner this node knows.
func (v Views) ForeignJobs(dst []grid.JobID) []grid.JobID {
	for r := range v.c.replicas.Open() {
		if id := r.Job(); !v.c.isOrigin(id) {
			dst = append(dst, id)
		}
	}
	for id := range v.c.ownerCache.Jobs() {
		if v.c.peekJob(id) == nil {
			dst = append(dst, id)
		}
	}
	return dst
}

// Kept calls f with every job in the registers of this node, replicas of others' jobs among them, in no order, and with
// whether this node may decide about it now.
func (v Views) Kept(now grid.Time, f func(j *JobView, mayAct bool)) {
	for j := range v.c.jobs.All() {
		view := j.view()
		f(&view, j.authoritative() && v.c.mayAct(now, j))
	}
	for i := range v.c.archive.All() {
		if p := v.c.archive.At(i); p.Packed() && !p.Hole() {
			view := v.c.unpack(p, false).view()
			f(&view, true)
		}
	}
}

// isOrigin reports whether a job was submitted to this node.
func (c *Coordinator) isOrigin(id grid.JobID) bool { return id.Origin == c.cfg.Self }

// isHere reports whether a worker is this node's own. What is sent to it is delivered within the step, and never lost:
// its attempts have no lease that ends, and of one that is dropped nothing remains there.
func (c *Coordinator) isHere(worker grid.NodeID) bool { return worker == c.cfg.Self }

// isOver reports whether a job that is not here is over: it was submitted here and forgotten, or evicted.
func (c *Coordinator) isOver(id grid.JobID) bool {
	return c.isOrigin(id) || c.replicas.Buried(id)
}

// dropStale tells a worker that an attempt is not the live one.
func (c *Coordinator) dropStale(to grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	c.stats.Stale++
	c.dropOrRedirect(to, id, fx)
}

// dropOrRedirect tells a worker that an attempt is not needed there any more or, if this node does not own the job,
// whom it considers the owner; nothing of a job that is unknown here.
func (c *Coordinator) dropOrRedirect(to grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	switch j := c.job(id.Task.Job); {
	case j == nil && !c.isOver(id.Task.Job):
	case j != nil && !j.authoritative():
		c.redirect(to, j, fx)
	default:
		m := fx.Send(to, grid.KindDrop)
		m.Attempts = append(m.Attempts, id)
	}
}

// acknowledgeHandBack tells a worker that it may forget an attempt that it has handed back: what follows is on disk
// with this step. Of an attempt that is not known to be accepted the worker has no record; if it has one, it repeats
// the hand-back.
func (c *Coordinator) acknowledgeHandBack(from grid.NodeID, id grid.AttemptID, fx *grid.Effects) {
	if l := c.currentAttempt(from, id); l == nil || l.Phase() != live.Offered {
		c.dropOrRedirect(from, id, fx)
	}
}

// countUnwanted counts a result that is not of a live attempt. It is forged if the attempt was given to another node,
// or was never made.
func (c *Coordinator) countUnwanted(from grid.NodeID, id grid.AttemptID, t *task, fx *grid.Effects) {
	if c.isHere(from) {
		return
	}
	j := c.job(id.Task.Job)
	forged := t != nil && j.replica.Sole() && // other owners may have made attempts that this one does not know
		(t.Attempt == id.Attempt && t.Worker != from || t.Attempt.Less(id.Attempt) && t.Backup.Less(id.Attempt))
	if c.repeated.Count(from, id) || forged {
		fx.Offences = append(fx.Offences, from)
	}
}

// clip bounds a text for a record or the wire.
func clip(s string) string { return grid.Clean(s, grid.MaxText) }

// Blacklisted returns the reason why a node gets no task of a class now; WhyNone if it may.
func (v Views) Blacklisted(now grid.Time, class string, id grid.NodeID) grid.Refusal {
	return v.c.peers.Blacklisted(now, class, id)
}

// Backoff returns the back-off of a node, as this one has it now for a class.
func (v Views) Backoff(now grid.Time, class string, id grid.NodeID) peers.Backoff {
	return v.c.peers.Backoff(now, class, id)
}

// WouldExpose reports whether a known peer would show the job to callers who may not see it.
func (v Views) WouldExpose(id grid.NodeID, spec *grid.JobSpec) bool {
	return spec.Access() == grid.AccessOwner && !v.c.peers.HidesJobs(id)
}

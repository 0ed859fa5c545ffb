package node

import (
	"slices"

	"skep/grid"
)

// Claims of ownership. A takeover message (KindTakeover) counts from a member about itself, and is only a reason to
// ask. An owner sends keepalives to the other members at once and goes on until a majority denies its epoch. A worker
// reports its attempts to the claimant too, asks the other members, and follows the claim when a majority of the
// members agrees. So no single node can make an owner or a worker let go of anything, and a false claim costs a few
// messages each sixth of a lease.

// learnOwner records a job's new owner in the replica and in the owner record, and reports this node's attempts to it.
func (c *coordinator) learnOwner(now grid.Time, id grid.JobID, epoch uint32, owner grid.NodeID, fx *grid.Effects) {
	if j := c.job(id); j != nil {
		j.replica.Follow(now, epoch, owner)
		c.followRegisters(now, fx)
	}
	c.worker.FollowOwner(now, id, owner, epoch, fx)
}

// ownerLearned follows a job's new owner, of which its register has told.
func (c *coordinator) ownerLearned(now grid.Time, j *job, fx *grid.Effects) {
	if j.confirmed() {
		c.replyAll(&j.replica.submitters, j.id, fx)
	}
	owner, epoch, _ := j.replica.Owner()
	c.worker.FollowOwner(now, j.id, owner, epoch, fx)
}

// takeoverHeard handles an announcement of takeovers, or a member's redirect to another owner.
func (c *coordinator) takeoverHeard(now grid.Time, from grid.NodeID, m *grid.Message, announced bool, fx *grid.Effects) {
	if !announced {
		c.ownerClaimed(now, from, m.Register.Job, grid.OwnerClaim{Owner: m.Register.Owner, Epoch: m.Register.Epoch}, fx)
		return
	}
	if len(m.Attempts) > maxTakeovers {
		c.stats.Stale++
		return
	}
	for _, x := range m.Attempts {
		if c.job(x.Task.Job) == nil {
			c.ownerCache.add(x.Task.Job, claimant{Node: from, Epoch: x.Epoch, Since: c.wall.At(now).UnixNano()})
		}
		c.ownerClaimed(now, from, x.Task.Job, grid.OwnerClaim{Owner: from, Epoch: x.Epoch}, fx)
	}
}

// redirect tells a worker whom this node considers a job's owner.
func (c *coordinator) redirect(to grid.NodeID, j *job, fx *grid.Effects) {
	owner, epoch, _ := j.replica.Owner()
	if to == c.cfg.Self || owner == c.cfg.Self && !j.replica.IsOwner() {
		return
	}
	m := fx.Send(to, grid.KindTakeover)
	m.Register.Job, m.Register.Epoch, m.Register.Owner = j.id, epoch, owner
}

// announceTakeovers announces the jobs that this node has taken over.
func (c *coordinator) announceTakeovers(fx *grid.Effects) {
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

// ownerClaimed handles a statement about who owns a register.
func (c *coordinator) ownerClaimed(now grid.Time, from grid.NodeID, id grid.JobID, x grid.OwnerClaim, fx *grid.Effects) {
	if j := c.job(id); j != nil {
		c.replicaClaimed(now, from, j, x, fx)
	}
	c.worker.OwnerClaimed(now, from, id, x, fx)
}

// replicaClaimed handles a claim about a register of which this node is a member. A real owner also writes to this
// node.
func (c *coordinator) replicaClaimed(now grid.Time, from grid.NodeID, j *job, x grid.OwnerClaim, fx *grid.Effects) {
	rep := j.replica
	if c.isOutsider(j, from) {
		if rep.MembersVerified { // else the members may be forged, and the sender may be a real one
			c.countOffence(from, fx)
		}
		return
	}
	rep.Claimed(now, from, x, fx)
}

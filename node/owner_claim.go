package node

import (
	"slices"

	"skep/grid"
	"skep/node/replication"
	"skep/node/worker"
)

// Claims of ownership. A takeover message (KindTakeover) counts from a member about itself, and is only a reason to
// ask. An owner sends keepalives to the other members at once and goes on until a majority denies its epoch. A worker
// reports its attempts to the claimant too, asks the other members, and follows the claim when a majority of the
// members agrees. So no single node can make an owner or a worker let go of anything, and a false claim costs a few
// messages each sixth of a lease.

// learnOwner records a job's new owner in the replica and in the owner record, and reports this node's attempts to it.
func (n *Node) learnOwner(now grid.Time, id grid.JobID, epoch uint32, owner grid.NodeID, fx *grid.Effects) {
	if j := n.job(id); j != nil {
		n.replicas.Follow(now, j.replica.Replica, epoch, owner)
		n.followRegisters(now, fx)
	}
	n.worker.FollowOwner(now, id, owner, epoch, fx)
}

// ownerLearned follows a job's new owner, of which its register has told.
func (n *Node) ownerLearned(now grid.Time, j *job, fx *grid.Effects) {
	if j.confirmed() {
		n.replyAll(&j.replica.submitters, j.id, fx)
	}
	owner, epoch, _ := j.replica.Owner()
	n.worker.FollowOwner(now, j.id, owner, epoch, fx)
}

// takeoverHeard handles an announcement of takeovers, or a member's redirect to another owner.
func (n *Node) takeoverHeard(now grid.Time, from grid.NodeID, m *grid.Message, announced bool, fx *grid.Effects) {
	if !announced {
		n.ownerClaimed(now, from, m.Register.Job, replication.Claim{Owner: m.Register.Owner, Epoch: m.Register.Epoch}, fx)
		return
	}
	if len(m.Attempts) > maxTakeovers {
		n.stats.Stale++
		return
	}
	for _, x := range m.Attempts {
		if n.job(x.Task.Job) == nil {
			n.ownerCache.Add(x.Task.Job, replication.Claimant{Node: from, Epoch: x.Epoch, Since: n.wall.At(now).UnixNano()})
		}
		n.ownerClaimed(now, from, x.Task.Job, replication.Claim{Owner: from, Epoch: x.Epoch}, fx)
	}
}

// redirect tells a worker whom this node considers a job's owner.
func (n *Node) redirect(to grid.NodeID, j *job, fx *grid.Effects) {
	owner, epoch, _ := j.replica.Owner()
	if to == n.cfg.Self || owner == n.cfg.Self && !j.replica.IsOwner() {
		return
	}
	m := fx.Send(to, grid.KindTakeover)
	m.Register.Job, m.Register.Epoch, m.Register.Owner = j.id, epoch, owner
}

// announceTakeovers announces the jobs that this node has taken over.
func (n *Node) announceTakeovers(fx *grid.Effects) {
	for len(n.takenOver) > 0 {
		m := fx.Announce(grid.KindTakeover)
		k := min(len(n.takenOver), maxTakeovers)
		for _, id := range n.takenOver[:k] {
			if j := n.job(id); j != nil && j.authoritative() {
				_, epoch, _ := j.replica.Owner()
				m.Attempts = append(m.Attempts, grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: epoch}})
			}
		}
		n.takenOver = slices.Delete(n.takenOver, 0, k)
	}
}

// maxTakeovers bounds the jobs in one announcement: an announcement's size is limited.
const maxTakeovers = 128

// ownerClaimed handles a statement about who owns a register.
func (n *Node) ownerClaimed(now grid.Time, from grid.NodeID, id grid.JobID, c replication.Claim, fx *grid.Effects) {
	if j := n.job(id); j != nil {
		n.replicaClaimed(now, from, j, c, fx)
	}
	n.worker.OwnerClaimed(now, from, id, worker.Claim(c), fx)
}

// replicaClaimed handles a claim about a register of which this node is a member. A real owner also writes to this
// node.
func (n *Node) replicaClaimed(now grid.Time, from grid.NodeID, j *job, c replication.Claim, fx *grid.Effects) {
	rep := j.replica
	if n.isOutsider(j, from) {
		if rep.MembersVerified { // else the members may be forged, and the sender may be a real one
			n.countOffence(from, fx)
		}
		return
	}
	n.replicas.Claimed(now, from, rep.Replica, c, fx)
}

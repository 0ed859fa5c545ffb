package node

import (
	"skep/grid"
	"skep/node/membership"
	"skep/node/replication"
)

// What the node carries between pending submissions and the other parts.

// replicaKinds are the message kinds that a member of a register must support.
const replicaKinds = grid.KindSet(1<<grid.KindWrite | 1<<grid.KindCampaign |
	1<<grid.KindKeepalive | 1<<grid.KindDeposit)

// Candidates implements [membership.Contacts].
func (c contacts) Candidates(ownerOnly bool) []*grid.Ad { return c.n.memberCandidates(ownerOnly) }

// ExpectsAds implements [membership.Contacts].
func (c contacts) ExpectsAds() bool { return c.n.hasUnknownPeers() }

// memberCandidates returns the ads of connected nodes that can be members, ordered by identity; with ownerOnly set only
// those that honour access: owner.
func (n *Node) memberCandidates(ownerOnly bool) (ads []*grid.Ad) {
	for _, p := range n.connected() {
		g := n.gossip.Peer(p.id)
		if g == nil || g.Ad == nil || g.Ad.Shut() || !p.mayReplicate || ownerOnly && !p.hidesJobs {
			continue
		}
		ads = append(ads, g.Ad)
	}
	return ads
}

// keepaliveAnswered takes a member's, or a candidate's, answer to a keepalive.
func (n *Node) keepaliveAnswered(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	a := n.replicas.KeepaliveAnswered(now, from, m, fx)
	if a.Forged {
		n.countOffence(from, fx)
	}
	if a.Alive {
		n.createJobs(now, n.submissions.Answered(now, from, a.Revived, fx), fx)
	}
	if a.Agrees {
		n.resumeJobs(now)
	}
}

// createJobs creates the jobs whose members are chosen.
func (n *Node) createJobs(now grid.Time, jobs []membership.Job, fx *grid.Effects) {
	for i := range jobs {
		n.createJob(now, &jobs[i], fx)
	}
	n.submissions.SetTimer(now, fx)
}

// createJob creates a job whose register this node and others keep. The caller is answered when a majority has it.
func (n *Node) createJob(now grid.Time, m *membership.Job, fx *grid.Effects) {
	members := append([]grid.NodeID{n.cfg.Self}, m.Others...)
	j := n.newReplica(m.ID, m.Spec, n.wall.At(now).UnixNano(), members, replication.State{})
	r := j.replica
	r.submitters, r.confirmBy, r.provisional = m.Callers, m.Since.Add(n.cfg.Confirm), !r.Sole()
	n.replicas.Own(r.Replica)
	n.queueNewJob(now, j, fx)
	if !r.Sole() {
		n.deposits.ReplicateInputs(now, &r.files)
	}
	n.replicas.Save(r.Replica, fx)
	if r.Sole() {
		n.replyAll(&r.submitters, j.id, fx)
	}
	n.scheduleTick(now, fx)
	n.adChanged(now, fx)
}

// queueNewJob queues a new job's tasks for placement.
func (n *Node) queueNewJob(now grid.Time, j *job, fx *grid.Effects) {
	j.arrived = now
	n.enqueueJob(j)
	n.rates.Arrive(now, j.class, j.spec, int(j.spec.Count))
}

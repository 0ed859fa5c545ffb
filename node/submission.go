package node

import (
	"skep/grid"
	"skep/node/membership"
)

// What the node carries between pending submissions and the other parts.

// replicaKinds are the message kinds that a member of a register must support.
const replicaKinds = grid.KindSet(1<<grid.KindWrite | 1<<grid.KindCampaign |
	1<<grid.KindKeepalive | 1<<grid.KindDeposit)

// Candidates implements [membership.Contacts].
func (c contacts) Candidates(ownerOnly bool) []*grid.Ad { return c.c.memberCandidates(ownerOnly) }

// ExpectsAds implements [membership.Contacts].
func (c contacts) ExpectsAds() bool { return c.c.hasUnknownPeers() }

// memberCandidates returns the ads of connected nodes that can be members, ordered by identity; with ownerOnly set only
// those that honour access: owner.
func (n *parts) memberCandidates(ownerOnly bool) (ads []*grid.Ad) {
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

// createJobs creates the jobs whose members are chosen. This node has less room for other work from then on.
func (n *Node) createJobs(now grid.Time, jobs []membership.Job, fx *grid.Effects) {
	for i := range jobs {
		j := &jobs[i]
		n.create(now, j.ID, j.Spec, j.Others, j.Callers, j.Since.Add(n.cfg.Confirm), fx)
		n.profile.Changed(now, fx)
	}
	n.submissions.SetTimer(now, fx)
}

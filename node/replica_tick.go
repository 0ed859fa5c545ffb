package node

import (
	"skep/grid"
	"skep/node/replication"
)

// tickReplica repeats what is unanswered, and reports whether anything is left to do.
func (n *Node) tickReplica(now grid.Time, r *replication.Replica, fx *grid.Effects) bool {
	j := n.replicated(r)
	if j == nil || r.State().Done && !r.IsOwner() {
		return false
	}
	n.tickDeposits(now, j, fx)
	n.answerUnconfirmed(now, j, fx)
	for _, id := range r.Members() {
		contacts{n}.Reach(now, j.id, id, fx)
	}
	if !r.IsOwner() {
		n.replicas.CampaignIfDue(now, r, fx)
		return true
	}
	settled := n.replicas.Repeat(now, r, fx)
	if r.State().Done {
		return r.CountCloseNotice() && !settled
	}
	if rep := j.replica; rep.graceUntil != 0 && now >= rep.graceUntil && n.mayAct(now, j) {
		n.placeUnclaimed(now, j, fx)
	}
	n.continueBulkEnd(now, j, fx)
	n.replicas.RenewIfDue(now, r, fx)
	return true
}

package node

import (
	"skep/grid"
	"skep/node/replication"
)

// tickReplica repeats what is unanswered, and reports whether anything is left to do.
func (c *coordinator) tickReplica(now grid.Time, r *replication.Replica, fx *grid.Effects) bool {
	j := c.replicated(r)
	if j == nil || r.State().Done && !r.IsOwner() {
		return false
	}
	c.tickDeposits(now, j, fx)
	c.answerUnconfirmed(now, j, fx)
	for _, id := range r.Members() {
		contacts{c}.Reach(now, j.id, id, fx)
	}
	if !r.IsOwner() {
		r.CampaignIfDue(now, fx)
		return true
	}
	settled := r.Repeat(now, fx)
	if r.State().Done {
		return r.CountCloseNotice() && !settled
	}
	if rep := j.replica; rep.graceUntil != 0 && now >= rep.graceUntil && c.mayAct(now, j) {
		c.placeUnclaimed(now, j, fx)
	}
	c.continueBulkEnd(now, j, fx)
	r.RenewIfDue(now, fx)
	return true
}

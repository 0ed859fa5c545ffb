package node

import "skep/grid"

// maxCloseNotices bounds how often a job's close is sent to members that do not answer; those that return later ask.
const maxCloseNotices = 5

// tickReplica repeats what is unanswered, and reports whether anything is left to do.
func (n *Node) tickReplica(now grid.Time, j *job, fx *grid.Effects) bool {
	rep := j.replica
	r := rep.reg
	if n.job(j.id) != j || r.State().Done && !r.IsOwner() {
		return false
	}
	n.tickDeposits(now, j, fx)
	n.answerUnconfirmed(now, j, fx)
	n.recallQueued(now, j, fx)
	for _, id := range r.Members() {
		n.reachMember(now, j, id, fx)
	}
	if !r.IsOwner() {
		n.maybeCampaign(now, j, fx)
		return true
	}
	settled := true
	for place := range r.Members() {
		settled = settled && r.UpToDate(place)
		switch {
		case r.HasRefused(place):
			r.Retry(place)
			n.markDirty(j)
		case rep.writeSent[place] != 0 && now >= rep.writeSent[place].Add(n.cfg.Lease/6):
			n.writeAgain(now, j, place, fx)
		}
	}
	if r.State().Done {
		rep.closeNotices++
		return !settled && rep.closeNotices <= maxCloseNotices
	}
	if rep.graceUntil != 0 && now >= rep.graceUntil && n.mayAct(now, j) {
		n.placeUnclaimed(now, j, fx)
	}
	n.continueBulkEnd(now, j, fx)
	if rep.promisedElsewhere > r.State().Epoch && now >= rep.campaignAt {
		n.campaign(now, j, fx)
	}
	return true
}

// writeAgain repeats the write under way to a member.
func (n *Node) writeAgain(now grid.Time, j *job, place int, fx *grid.Effects) {
	m := fx.Send(j.replica.reg.Members()[place], grid.KindWrite)
	if j.replica.reg.RepeatWrite(place, &m.Register) {
		n.fillWrite(now, j, place, m)
		return
	}
	fx.Sends = fx.Sends[:len(fx.Sends)-1]
}

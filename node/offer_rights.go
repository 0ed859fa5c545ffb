package node

import (
	"slices"

	"skep/grid"
)

// Who may offer attempts of a job here. Nothing on the wire proves who the members of a job's register are, so it goes by who said so: the
// job's origin is believed, and so is a register that the origin made here. What any other node says of its members is hearsay. It is taken
// for want of better, since the origin may be gone, but only of what that node itself has offered: it is of no account where the origin's
// word is known, and goes, with all that rested on it, when the origin says otherwise.

// mayOffer reports whether a node may offer an attempt: the job's origin, or, if the job has a register, the owner of the newest epoch known
// here, also as a member, of a job that is not over. An owner that has renewed its epoch still offers attempts of the one before.
func (n *Node) mayOffer(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) bool {
	id := o.ID.Task.Job
	if from == id.Origin {
		n.checkOriginMembers(now, o, fx)
	}
	p, j := n.ownerRecords[id], n.peekJob(id)
	if len(o.Members) == 0 {
		return id.Origin == from && p == nil
	}
	if !n.validMembers(id, from, o.Members) {
		return false
	}
	if j != nil && j.replica != nil {
		g := j.replica
		return slices.Equal(g.reg.Members(), o.Members) && (o.ID.Epoch >= g.epoch || g.owner == from) && !g.reg.State().Done &&
			(p == nil || o.ID.Epoch > p.epoch || p.owner == from)
	}
	if p == nil {
		return len(n.exec.Of(id, nil)) == 0 // else the origin has offered some of them, and the job has no register
	}
	return slices.Equal(p.members, o.Members) && (o.ID.Epoch > p.epoch || p.owner == from)
}

// checkOriginMembers lets go of what rests on another's word about the members of a job, where the job's origin, which offers an attempt, names
// others or none.
func (n *Node) checkOriginMembers(now grid.Time, o *grid.Offer, fx *grid.Effects) {
	id := o.ID.Task.Job
	if j := n.peekJob(id); j != nil && j.replica != nil && !j.replica.membersVerified && !slices.Equal(j.replica.reg.Members(), o.Members) {
		n.dropForgedReplica(j, fx)
	}
	p := n.ownerRecords[id]
	if p == nil {
		return
	}
	if p.membersVerified {
		return
	}
	if slices.Equal(p.members, o.Members) {
		p.membersVerified = true
		return
	}
	for _, w := range n.exec.Of(id, nil) {
		n.forgetAttempt(now, w.ID, fx)
	}
}

// dropForgedReplica forgets a register that another than the job's origin made here, and that the origin does not know.
func (n *Node) dropForgedReplica(j *job, fx *grid.Effects) {
	if j.replica.reg.Leads() {
		n.stepDown(j, fx)
	}
	at := n.archive.find(j.id)
	n.forgetJob(j, fx)
	if at >= 0 {
		n.archive.remove(n.cfg.Self, at)
	}
}

// membersVerified reports whether the members that a node names of a job are the word of its origin, or known by a register that is.
func (n *Node) membersVerified(id grid.JobID, from grid.NodeID) bool {
	j := n.peekJob(id)
	return from == id.Origin || j != nil && j.replica != nil && j.replica.membersVerified
}

// tombstone names an attempt in the fence. What became of one that was taken on hearsay says nothing of the origin's of the same number.
type tombstone struct {
	grid.AttemptID
	hearsay bool
}

// isHearsay reports whether attempts of a job are here on the word of others than its origin.
func (n *Node) isHearsay(id grid.JobID) bool {
	p := n.ownerRecords[id]
	return p != nil && !p.membersVerified
}

// contains reports whether an attempt is in the fence: as the origin's, or, where that is asked, on hearsay.
func (p *tombstones) contains(id grid.AttemptID, hearsay bool) bool {
	return p.has(tombstone{id, false}) || hearsay && p.has(tombstone{id, true})
}

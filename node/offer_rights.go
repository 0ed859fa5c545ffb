package node

import (
	"slices"

	"skep/grid"
)

// Who may offer attempts of a job here. Nothing on the wire proves who the members of a job's register are, so it
// depends on who names them: the job's origin is believed, and so is a replica that the origin created here. What any
// other node says of the members is hearsay. Hearsay is accepted, since the origin may be gone, but only for attempts
// that the same node offers; it is ignored where the members are verified, and dropped with all that rested on it when
// the origin contradicts it.

// mayOffer reports whether a node may offer an attempt: the job's origin or, if the job has a register, the owner of
// the newest epoch known here (as worker and as member) while the job is not closed. An owner that has renewed its
// epoch still offers attempts of the epoch before. This node offers itself only attempts of jobs that it owns, so what
// others have claimed of these jobs is false.
func (n *Node) mayOffer(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) bool {
	id := o.ID.Task.Job
	if from == id.Origin {
		n.checkOriginMembers(now, o, fx)
	}
	rec, j := n.ownerRecords[id], n.peekJob(id)
	if from == n.cfg.Self {
		if rec != nil && rec.owner != from && rec.epoch >= o.ID.Epoch {
			n.forgetAllOf(now, id, fx)
		}
		return true
	}
	if len(o.Members) == 0 {
		return id.Origin == from && rec == nil
	}
	if !n.validMembers(id, from, o.Members) {
		return false
	}
	if j != nil && j.replica != nil {
		rep := j.replica
		owner, epoch, _ := rep.Owner()
		return slices.Equal(rep.Members(), o.Members) && (o.ID.Epoch > epoch || owner == from) && !rep.State().Done &&
			(rec == nil || o.ID.Epoch > rec.epoch || rec.owner == from)
	}
	if id.Origin == n.cfg.Self {
		return false // this node knows its own jobs: this one has no register, or is forgotten
	}
	if rec == nil {
		return len(n.exec.Of(id, nil)) == 0 // else the origin has offered some of them, and the job has no register
	}
	return slices.Equal(rec.members, o.Members) && (o.ID.Epoch > rec.epoch || rec.owner == from)
}

// refuseContradiction refuses an offer that only hearsay about the job's members stands against: unanswered it would
// count as a lost attempt.
func (n *Node) refuseContradiction(from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	if o.Spec == nil || len(o.Members) == 0 || !n.isHearsay(o.ID.Task.Job) || slices.Equal(n.membersOf(o.ID.Task.Job), o.Members) {
		return
	}
	n.neverRan.add(tombstone{o.ID, true})
	m := fx.Send(from, grid.KindRefuse)
	m.Attempts = append(m.Attempts, o.ID)
	m.Refusal = grid.Refusal{Why: grid.WhyStale, Detail: "another node has named other members of the job"}
}

// checkOriginMembers drops what rests on hearsay about a job's members when the job's origin offers an attempt and
// names other members or none.
func (n *Node) checkOriginMembers(now grid.Time, o *grid.Offer, fx *grid.Effects) {
	id := o.ID.Task.Job
	if j := n.peekJob(id); j != nil && j.replica != nil && !j.replica.MembersVerified && !slices.Equal(j.replica.Members(), o.Members) {
		n.dropForgedReplica(now, j, fx)
	}
	rec := n.ownerRecords[id]
	if rec == nil {
		return
	}
	if rec.membersVerified {
		return
	}
	if slices.Equal(rec.members, o.Members) {
		rec.membersVerified = true
		return
	}
	n.forgetAllOf(now, id, fx)
}

// forgetAllOf forgets all attempts of a job.
func (n *Node) forgetAllOf(now grid.Time, id grid.JobID, fx *grid.Effects) {
	for _, w := range n.exec.Of(id, nil) {
		n.forgetAttempt(now, w.ID, fx)
	}
}

// dropForgedReplica forgets a replica that another node than the job's origin created here, and that the origin does
// not know.
func (n *Node) dropForgedReplica(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.IsOwner() {
		n.replicas.StepDown(j.replica.Replica)
		n.followRegisters(now, fx)
	}
	at := n.archive.find(j.id)
	n.forgetJob(j, fx)
	if at >= 0 {
		n.archive.remove(n.cfg.Self, at)
	}
}

// membersVerified reports whether the members that a node names for a job come from the job's origin, directly or
// through a verified replica.
func (n *Node) membersVerified(id grid.JobID, from grid.NodeID) bool {
	j := n.peekJob(id)
	return from == id.Origin || j != nil && j.replica != nil && j.replica.MembersVerified
}

// tombstone names an attempt that this worker dropped. One that rests on hearsay does not block the origin's attempt
// of the same number.
type tombstone struct {
	grid.AttemptID
	hearsay bool
}

// isHearsay reports whether this node has attempts of a job whose members only another node than the origin has named.
func (n *Node) isHearsay(id grid.JobID) bool {
	rec := n.ownerRecords[id]
	return rec != nil && !rec.membersVerified
}

// contains reports whether an attempt has a tombstone: a verified one or, if hearsay is set, one that rests on hearsay.
func (t *tombstones) contains(id grid.AttemptID, hearsay bool) bool {
	return t.has(tombstone{id, false}) || hearsay && t.has(tombstone{id, true})
}

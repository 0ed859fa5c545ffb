package worker

import (
	"slices"

	"skep/grid"
	"skep/node/chain"
)

// Who may offer attempts of a job here. Nothing on the wire proves who the members of a job's register are, so it
// depends on who names them: the job's origin is believed, and so is a replica that the origin created here. What any
// other node says of the members is hearsay. Hearsay is accepted, since the origin may be gone, but only for attempts
// that the same node offers; it is ignored where the members are verified, and dropped with all that rested on it when
// the origin contradicts it.

// mayOffer reports whether a node may offer an attempt: the job's origin or, if the job is replicated, the owner of
// the newest epoch known here (as worker and as member) while the job is not closed. An owner that has renewed its
// epoch still offers attempts of the epoch before. This node offers itself only attempts of jobs that it owns, so what
// others have claimed of these jobs is false.
func (w *Worker) mayOffer(from grid.NodeID, o *grid.Offer, reg *grid.KnownRegister, fx *grid.Effects) bool {
	id := o.ID.Task.Job
	if from == id.Origin {
		w.checkOriginMembers(o, fx)
	}
	rec := w.owners[id]
	if from == w.cfg.Self {
		if rec != nil && rec.owner != from && rec.epoch >= o.ID.Epoch {
			w.ForgetJob(id, fx)
		}
		return true
	}
	switch {
	case len(o.Members) == 0:
		return id.Origin == from && rec == nil
	case o.Changes == 0 && !grid.ValidMembers(id, o.Members), !slices.Contains(o.Members, from):
		return false
	case reg.Known:
		return mayBeMembers(reg.Members, reg.Changes, o, from) && (o.ID.Epoch > reg.Epoch || reg.Owner == from) &&
			!reg.Closed && (rec == nil || o.ID.Epoch > rec.epoch || rec.owner == from)
	case id.Origin == w.cfg.Self:
		return false // this node knows its own jobs: this one is not replicated, or is forgotten
	case rec == nil:
		return len(w.exec.Of(id, nil)) == 0 // else the origin has offered some of them, and the job is not replicated
	}
	return mayBeMembers(rec.members, rec.changes, o, from) &&
		(rec.owner == from || o.ID.Epoch > rec.epoch && w.isProven(from, o, rec, fx))
}

// isProven reports whether a member that offers an attempt of a signed job in a later epoch than the known owner's owns
// that: its assignment carries the votes of the members, and the offer what proves who these are, if they have changed.
// Who has none is an offender, and else would have the attempts here reported to it.
func (w *Worker) isProven(from grid.NodeID, o *grid.Offer, rec *ownerRecord, fx *grid.Effects) bool {
	if !o.Spec.Signed || w.cfg.Signer == nil {
		return true
	}
	c, err := chain.New(w.cfg.Signer, w.cfg.Self, o.ID.Task.Job, o.Spec, rec.members), error(nil)
	if o.Changes > 0 {
		c, err = chain.Shown(w.cfg.Signer, w.cfg.Self, o)
	}
	if err == nil {
		err = c.CheckOffer(from, o.ID.Attempt, o.Assigned)
	}
	if err != nil {
		fx.Offences = append(fx.Offences, from)
		return false
	}
	return true
}

// mayBeMembers reports whether the members that an offer names are those known here, or such as have changed since, as
// one of these says.
func mayBeMembers(known []grid.NodeID, changes uint32, o *grid.Offer, from grid.NodeID) bool {
	return slices.Equal(known, o.Members) || o.Changes > changes && slices.Contains(known, from)
}

// refuseContradiction refuses an offer that only hearsay about the job's members stands against: unanswered it would
// count as a lost attempt.
func (w *Worker) refuseContradiction(from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	if len(o.Members) == 0 || !w.isHearsay(o.ID.Task.Job) || slices.Equal(w.membersOf(o.ID.Task.Job), o.Members) {
		return
	}
	w.neverRan.add(tombstone{o.ID, true})
	m := fx.Send(from, grid.KindRefuse)
	m.Attempts = append(m.Attempts, o.ID)
	m.Refusal = grid.Refusal{Why: grid.WhyStale, Detail: "another node has named other members of the job"}
}

// checkOriginMembers drops what rests on hearsay about a job's members when the job's origin offers an attempt and
// names other members or none.
func (w *Worker) checkOriginMembers(o *grid.Offer, fx *grid.Effects) {
	rec := w.owners[o.ID.Task.Job]
	switch {
	case rec == nil || rec.membersVerified || o.Changes > 0 || rec.changes > 0:
	case slices.Equal(rec.members, o.Members):
		rec.membersVerified = true
	default:
		w.ForgetJob(o.ID.Task.Job, fx)
	}
}

// isHearsay reports whether this node has attempts of a job whose members only another node than the origin has named.
func (w *Worker) isHearsay(id grid.JobID) bool {
	rec := w.owners[id]
	return rec != nil && !rec.membersVerified
}

package worker

import (
	"slices"

	"skep/exec"
	"skep/grid"
)

// Claims of ownership, at a worker: it reports its attempts to the claimant too, asks the other members, and follows
// the claim when a majority of the members agrees. ../coordinator/owner_claim.go has the rule, and what an owner does.

// memberClaims are the statements of a register's members about its owner, as a worker received them.
type memberClaims struct {
	byPlace   [grid.MaxMembers]grid.OwnerClaim // by the member's place; newest epoch that it stated
	lastAsked grid.Time                        // when the other members were last asked
}

// claimants appends the members that claim the register for themselves in an epoch above the known one.
func (rec *ownerRecord) claimants(dst []grid.NodeID) []grid.NodeID {
	for place, id := range rec.members {
		if c := rec.claims.byPlace[place]; c.Owner == id && c.Epoch > rec.epoch && id != rec.owner {
			dst = append(dst, id)
		}
	}
	return dst
}

// majorityClaim returns the claim on which a majority of the members agrees; zero = none.
func (rec *ownerRecord) majorityClaim() grid.OwnerClaim {
	for place, id := range rec.members {
		claim, votes := rec.claims.byPlace[place], 0
		if claim.Owner != id || claim.Epoch <= rec.epoch {
			continue
		}
		for other := range rec.members {
			if c := rec.claims.byPlace[other]; c.Owner == id && c.Epoch > rec.epoch {
				votes++
			}
		}
		if votes > len(rec.members)/2 {
			return claim
		}
	}
	return grid.OwnerClaim{}
}

// ownerClaimed handles a statement of a node about who owns a register.
func (w *Worker) ownerClaimed(now grid.Time, from grid.NodeID, id grid.JobID, c grid.OwnerClaim, fx *grid.Effects) {
	rec := w.owners[id]
	if rec == nil || rec.owner == w.cfg.Self || c.Owner == w.cfg.Self || c.Epoch <= rec.epoch ||
		!slices.Contains(rec.members, c.Owner) {
		return
	}
	place := slices.Index(rec.members, from)
	if place < 0 || place >= len(rec.claims.byPlace) || rec.claims.byPlace[place].Epoch >= c.Epoch {
		return
	}
	rec.claims.byPlace[place] = c
	if winner := rec.majorityClaim(); winner != (grid.OwnerClaim{}) {
		w.followOwner(now, id, winner.Owner, winner.Epoch, fx)
		return
	}
	if w.mayRepeat(now, &rec.claims.lastAsked) {
		w.queryOwner(now, id, rec, fx)
	}
}

// membersChanged takes over who keeps a job's register now, as its owner says, or as this node knows.
func (w *Worker) membersChanged(x *grid.JobChange, fx *grid.Effects) {
	rec := w.owners[x.Job]
	if rec == nil || x.From != rec.owner || x.Set.Changes() <= rec.changes || x.Set.Joining {
		return
	}
	rec.members, rec.changes, rec.claims = slices.Clone(x.Set.Members), x.Set.Number, memberClaims{}
	for _, a := range w.exec.Of(x.Job, nil) {
		w.save(a, fx)
	}
}

// mayRepeat reports whether an action limited to once each sixth of a lease is due, and records that it is done now.
func (w *Worker) mayRepeat(now grid.Time, last *grid.Time) bool {
	if *last != 0 && now < last.Add(w.cfg.Lease/6) {
		return false
	}
	*last = now
	return true
}

// queryOwner reports this node's attempts of a job to the claimants, and asks the other members whom they follow by
// sending a beat with one attempt. Waiting attempts are reported like running ones: a claim alone starts none of
// them. So are those that are given up of which something runs still.
func (w *Worker) queryOwner(now grid.Time, id grid.JobID, rec *ownerRecord, fx *grid.Effects) {
	works, claimants := w.exec.Of(id, nil), rec.claimants(nil)
	if len(works) == 0 {
		return
	}
	for _, to := range rec.members {
		switch {
		case to == w.cfg.Self:
		case !w.cfg.Contacts.Connected(to):
			if slices.Contains(claimants, to) {
				w.dialOnce(now, to, fx)
			}
		case slices.Contains(claimants, to):
			for _, a := range works {
				if w.isHandedBack(a) {
					w.refuse(to, a, fx)
					continue
				}
				if a.State == grid.WorkFinished && a.HandedBack == nil {
					m := fx.Send(to, grid.KindResult)
					m.Attempts, m.Result = append(m.Attempts, a.ID), a.Result
					continue
				}
				m := fx.About(to, grid.KindBeat)
				m.Attempts = append(m.Attempts, a.ID)
			}
		case to != rec.owner && w.isHandedBack(works[0]):
			w.refuse(to, works[0], fx)
		case to != rec.owner:
			m := fx.About(to, grid.KindBeat)
			m.Attempts = append(m.Attempts, works[0].ID)
		}
	}
}

// informClaimants calls queryOwner at the regular beat for all jobs whose owner is disputed.
func (w *Worker) informClaimants(now grid.Time, fx *grid.Effects) {
	for _, list := range [...][]*exec.Work{w.exec.Queue(), w.exec.Running(), w.exec.Finished()} {
		for _, a := range list {
			if rec := w.owners[a.ID.Task.Job]; rec != nil && len(rec.claimants(nil)) > 0 &&
				w.mayRepeat(now, &rec.claims.lastAsked) {
				w.queryOwner(now, a.ID.Task.Job, rec, fx)
			}
		}
	}
}

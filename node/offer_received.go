package node

import (
	"time"

	"skep/grid"
)

// offerReceived accepts or refuses an offered attempt. An offer that was accepted before is accepted again: the first
// answer was lost.
func (n *Node) offerReceived(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	if o.Spec == nil || o.ID.Task.Index >= o.Spec.Count || !n.mayOffer(now, from, o, fx) {
		n.stats.Stale++
		n.refuseContradiction(from, o, fx)
		return
	}
	foreign := from != o.ID.Task.Job.Origin // then a tombstone may rest on hearsay
	neverRan := n.neverRan.contains(o.ID, foreign)
	if n.released.contains(o.ID, foreign) && !neverRan && from != n.cfg.Self { // its own offer is never late
		n.stats.Stale++
		return
	}
	o.Lease, o.Age = min(max(o.Lease, minLease), time.Hour), min(max(o.Age, 0), maxTaskAge)
	why := grid.Refusal{}
	if neverRan {
		why = n.refusedEarlier()
	} else if n.exec.Get(o.ID) == nil {
		if why = n.fitsSelf(o.Spec); why.Why == grid.WhyNone && n.refusesForeign(o.ID.Task.Job) {
			why.Why = grid.WhyPrivate
		}
		if why.Why == grid.WhyNone {
			why.Why = n.exec.Refuses(o.Spec.Needs.Resources)
		}
		if why.Why == grid.WhyNone {
			if full := n.admitOffer(from, o, fx); full != "" {
				n.stats.Full++
				why = grid.Refusal{Why: grid.WhyQueue, Detail: full}
			}
		}
		if why.Why == grid.WhyNone {
			n.supersede(now, o.ID, fx)
			n.countReceived(now, from, o)
			n.learnOwner(now, o.ID.Task.Job, o.ID.Epoch, from, fx) // the offer may be the first message of a new owner
			if from != n.cfg.Self {
				n.ledger.Take(o.ID, parties(o.ID.Task.Job, from), offerBytes+specBytes(o.Spec))
			}
			n.acceptAttempt(now, from, o, fx)
		}
	}
	kind := grid.KindAccept
	if why.Why != grid.WhyNone {
		kind = grid.KindRefuse
		n.neverRan.add(tombstone{o.ID, foreign && !n.membersVerified(o.ID.Task.Job, from)})
	}
	m := fx.Send(from, kind)
	m.Attempts = append(m.Attempts, o.ID)
	m.Refusal = why
	if w := n.exec.Get(o.ID); w != nil && w.State == grid.WorkQueued && w.Until <= now { // without a valid start lease the repeated offer may be long out of date
		n.requestStartLease(now, len(fx.Sends), w, from, fx)
	}
}

// refusedEarlier is the reason for a repeated offer of an attempt that was refused or handed back before: the task has
// been placed elsewhere since, or will be, so this attempt must not start.
func (n *Node) refusedEarlier() grid.Refusal {
	if n.exec.Draining() {
		return grid.Refusal{Why: grid.WhyDrain}
	}
	return grid.Refusal{Why: grid.WhyStale}
}

// supersede drops older attempts of the same task: the owner has given them up.
func (n *Node) supersede(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	if id.Epoch > 1 {
		n.dropOldEpochs(now, id, fx)
	}
	for a := id; a.N > 1; {
		a.N--
		if n.exec.Get(a) != nil {
			n.forgetAttempt(now, a, fx)
			return
		}
		if id.N-a.N > 8 {
			return
		}
	}
}

// dropOldEpochs drops the attempts of a task that an earlier owner made.
func (n *Node) dropOldEpochs(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	for _, w := range n.exec.Of(id.Task.Job, nil) {
		if w.ID.Task == id.Task && w.ID.Epoch < id.Epoch {
			n.forgetAttempt(now, w.ID, fx)
		}
	}
}

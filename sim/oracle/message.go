package oracle

import (
	"skep/grid"
)

// Send reports that a message leaves a node. What it states must be durable: an accept, that an attempt was handed
// back, the acknowledgement of a result, the retry that an offer follows.
func (b *Books) Send(i int32, m *grid.Message) {
	b.Advertise(i, m.Digest)
	switch m.Kind {
	case grid.KindOffer:
		if k := b.task(i, m.Offer.ID.Task); k >= 0 {
			b.checkRetried(i, k, m.Offer.ID.Attempt)
			b.noteOffer(i, k, &m.Offer)
		}
		return
	case grid.KindCheckpointAck:
		b.checkUsable(i, m)
		return
	case grid.KindAccept, grid.KindRefuse, grid.KindResult, grid.KindResultAck:
	default:
		return
	}
	for _, a := range m.Attempts {
		k := b.task(i, a.Task)
		if k < 0 {
			return
		}
		t := &b.tasks[k]
		switch m.Kind {
		case grid.KindAccept:
			if t.acceptedBy != i && t.accepted == a.Attempt || t.accepted.Less(a.Attempt) {
				b.fail(i, "accepts attempt %v of %s, which is not on its disk", a.Attempt, b.taskName(k))
			}
		case grid.KindRefuse:
			if m.Refusal.Why == grid.WhyMoved && (!b.hasVacated(i, k, a.Attempt) || b.runsAt(i, k, a.Attempt)) {
				b.fail(i, "says that it gave attempt %v of %s up, and it runs, or its disk does not say so", a.Attempt,
					b.taskName(k))
			}
			if m.Refusal.Why == grid.WhyPulled && !b.hasGivenBack(i, k, a.Attempt) {
				b.fail(i, "hands attempt %v of %s back, and its disk does not say that it never starts", a.Attempt, b.taskName(k))
			}
		case grid.KindResult:
			if c := m.Result.Cause; c == grid.Lost || c.Refused() {
				b.annul(k, a.Attempt)
			}
		case grid.KindResultAck:
			kept := b.jobs[t.job].register != 0
			// the final state may not be on the disk yet
			durable := t.State == grid.Ended || kept && b.seatsOf(i, t.job).Decide(b.hasEnd(t.job, a))
			durable = durable || b.failureRecorded(i, k, a.Attempt)
			if (t.Attempt == a.Attempt || b.isBackup(k, a.Attempt) || kept) && !durable &&
				!b.annulled[taskAttempt{k, a.Attempt}] {
				b.fail(i, "acknowledges the result of attempt %v of %s, which is not on its disk", a.Attempt, b.taskName(k))
			}
		}
	}
}

// Advertise reports a digest that a node announces. Its own ad is checked once, as the drivers that sign and read it
// do; they refuse an invalid one. An own ad
// comes first in a digest.
func (b *Books) Advertise(i int32, digest []grid.AdEntry) {
	x := &b.machines[i]
	if len(digest) == 0 || digest[0].Ad == nil || digest[0].Ad == x.checkedAd || digest[0].Ad.Node != b.world.ID(i) {
		return
	}
	x.checkedAd = digest[0].Ad
	if err := x.checkedAd.Check(); err != nil {
		b.fail(i, "says of itself what cannot be: %v", err)
	}
}

// Step reports what a node decided, before any of it is durable or visible.
func (b *Books) Step(i int32, fx *grid.Effects) {
	b.decideFailures(i, fx)
	b.checkStartsAndStops(i, fx)
	b.checkOffers(i, fx)
	b.checkConfirmations(i, fx)
	b.deleteCheckpoints(i, fx)
	b.noteBeginnings(i, fx)
	b.noteBackoffs(i, fx)
	b.noteReserved(i)
}

// checkOffers checks offers when they are made: only one node may act as a job's owner, and none offers once the
// cancellation was acknowledged.
func (b *Books) checkOffers(i int32, fx *grid.Effects) {
	for k := range fx.Sends {
		m := &fx.Sends[k].Msg
		if m.Kind != grid.KindOffer {
			continue
		}
		n := b.job(i, m.Offer.ID.Task.Job)
		if n < 0 {
			return
		}
		j := &b.jobs[n]
		if k := b.task(i, m.Offer.ID.Task); k >= 0 && b.tasks[k].State == grid.Ended && !b.runsAgain(k) {
			b.fail(i, "offers attempt %v of %s, which has ended with attempt %v", m.Offer.ID.Attempt, b.taskName(k),
				b.tasks[k].Attempt)
		}
		if j.cancelAnswered {
			b.fail(i, "offers attempt %v of submission %d, which is cancelled", m.Offer.ID.Attempt, n)
		}
		for _, id := range b.everKept(n) {
			if o := b.world.Index(id); o != i && b.mayAct(o, m.Offer.ID.Task.Job) {
				b.fail(i, "offers attempt %v of submission %d, and n%d acts as its owner too", m.Offer.ID.Attempt, n, o)
			}
		}
	}
}

// mayAct reports whether a node's own view is that it may act as a job's owner.
func (b *Books) mayAct(i int32, id grid.JobID) bool {
	m, ok := b.machines[i].member.(interface {
		MayAct(grid.Time, grid.JobID) bool
	})
	return ok && m.MayAct(b.world.Clock(i), id)
}

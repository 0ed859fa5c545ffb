package worker

import (
	"slices"

	"skep/exec"
	"skep/grid"
	"skep/node/reservation"
)

// Slots that are kept for ranks of gangs (package reservation), and ranks that wait for their start lease in such a
// slot: an owner grants it when all ranks of the gang have a place.

// table returns the reservations. They take slots from the ledger of this worker, which is a value.
func (w *Worker) table() *reservation.Table { return w.reservations.On(&w.exec) }

// Reserve answers an owner that asks for slots for ranks of a gang, or releases them.
func (w *Worker) Reserve(now grid.Time, from grid.NodeID, q *grid.Reserve, fx *grid.Effects) {
	if q == nil {
		w.counts.stale++
		return
	}
	if why := w.refusesGang(from, q); q.Ranks > 0 && why != grid.WhyNone {
		fx.Send(from, grid.KindReserveAck).Reserve = &grid.Reserve{Job: q.Job, Attempt: q.Attempt, Round: q.Round,
			Refusal: grid.Refusal{Why: why}}
		return
	}
	w.table().Asked(now, from, w.inTime(now, q), w.workWaits(), fx)
	w.freed, w.news.Changed = true, true
}

// inTime returns a question for slots that become free as one for free slots, if what runs here is not expected to end
// in time: slots would be kept in vain, and the gang would be late for those of other nodes.
func (w *Worker) inTime(now grid.Time, q *grid.Reserve) *grid.Reserve {
	if !q.Later || w.exec.Capacity().Slots(q.Needs, int(q.Ranks)) < int(q.Ranks) || grid.Seconds(w.exec.UntilFree(now,
		q.Job, q.Needs, int(q.Ranks), w.cfg.RunTime)) <= min(q.TTL, reservation.MaxTTL) {
		return q
	}
	free := *q
	free.Later = false
	return &free
}

func (w *Worker) refusesGang(from grid.NodeID, q *grid.Reserve) grid.Why {
	if w.cfg.Private && from != w.cfg.Self {
		return grid.WhyPrivate
	}
	if w.leaving {
		return grid.WhyDrain
	}
	if w.exec.Shares() {
		return grid.WhySharing
	}
	return w.exec.Refuses(q.Needs)
}

// workWaits reports whether work waits for a slot, whoever owns it: a gang that keeps slots in vain delays the tasks of
// its own owner too.
func (w *Worker) workWaits() bool {
	queue := w.exec.Queue()
	return slices.ContainsFunc(queue[:min(len(queue), maxYields)], func(a *exec.Work) bool { return !a.Held })
}

// TakeReserved has an offered rank take over a slot that is kept for it, and reports whether there is one; a task that
// is no rank needs none.
func (w *Worker) TakeReserved(now grid.Time, from grid.NodeID, o *grid.Offer) bool {
	return !o.Spec.IsGang() || w.table().Take(now, from, o.ID, o.Spec.Needs.Resources)
}

// queue queues an attempt: a rank of a gang with the slot that was kept for it.
func (w *Worker) queue(now grid.Time, o *grid.Offer, ready bool) *exec.Work {
	if o.Spec.IsGang() {
		return w.exec.AcceptHeld(w.payer(o.ID.Task.Job), now, o.ID, o, ready)
	}
	return w.exec.AcceptFrom(w.payer(o.ID.Task.Job), now, o.ID, o, ready)
}

// requeue queues a restored attempt: a rank of a gang with a slot, if one is free.
func (w *Worker) requeue(o *grid.Offer, ready bool) *exec.Work {
	if o.Spec.IsGang() && w.exec.Hold(o.Spec.Needs.Resources) {
		return w.exec.AcceptHeld(w.payer(o.ID.Task.Job), 0, o.ID, o, ready)
	}
	return w.exec.AcceptFrom(w.payer(o.ID.Task.Job), 0, o.ID, o, ready)
}

// Reserved is how many cores are kept for gangs, with those of ranks that wait for a start lease, and when the first
// and the last slots that no rank has are free again at the latest; Never = none are kept.
func (w *Worker) Reserved() (cores grid.MilliCPU, first, last grid.Time) {
	return w.table().Cores() + w.exec.HeldCores(), w.table().Next(), w.table().Last()
}

// localRank is the index of a rank among those of its attempt here.
func (w *Worker) localRank(a *exec.Work) (n uint32) {
	if !a.Spec.IsGang() {
		return 0
	}
	for _, o := range w.exec.Of(a.ID.Task.Job, nil) {
		if o.ID.Attempt == a.ID.Attempt && o.ID.Task.Index < a.ID.Task.Index {
			n++
		}
	}
	return n
}

// passOn has the gangs in line told if all ranks of a gang here are in the state of this one, which has just started or
// ended.
func (w *Worker) passOn(a *exec.Work) {
	if a.Spec.IsGang() && !slices.ContainsFunc(w.exec.Of(a.ID.Task.Job, nil), func(o *exec.Work) bool {
		return o.State != a.State
	}) {
		w.table().PassOn()
	}
}

// fillReserved gives slots that are free to the gangs that wait for some.
func (w *Worker) fillReserved(now grid.Time, fx *grid.Effects) {
	if w.table().Len() > 0 {
		w.table().Expire(now)
		w.table().Fill(fx)
	}
}

// handOver tells the gangs in line that it is their turn, if it is.
func (w *Worker) handOver(now grid.Time, fx *grid.Effects) {
	if t := w.table(); t.HandsOver() {
		t.HandOver(now, fx)
	}
}

// nextShort returns queued work that uses slots which are kept for a gang until that has all of its slots: its time
// limit ends before the gang is expected to start.
func (w *Worker) nextShort(now grid.Time) *exec.Work {
	slot, held, lacking := w.table().Lendable()
	if held == 0 {
		return nil
	}
	all := w.exec.Free()
	for range held {
		all = all.Plus(slot)
	}
	lack := slot
	for range lacking + held - 1 {
		lack = lack.Plus(slot)
	}
	_, rest := w.exec.Ahead(now, grid.UsualBid, lack, w.cfg.RunTime)
	a := w.exec.Short(now, now.Add(grid.Seconds(rest)), all)
	if a != nil {
		w.table().Lend(a.Spec.Needs.Resources)
		w.exec.Start(now, a)
	}
	return a
}

// next returns the next work that starts now.
func (w *Worker) next(now grid.Time) *exec.Work {
	if a := w.exec.Next(now); a != nil || w.table().Len() == 0 {
		return a
	}
	return w.nextShort(now)
}

// reservationExpired gives up what was not used in time.
func (w *Worker) reservationExpired(now grid.Time, fx *grid.Effects) {
	if now >= w.reserveWake {
		w.reserveWake = 0
	}
	w.table().Expire(now)
	w.startReady(now, fx)
	w.news.Changed = true
}

// wakeForReserved sets the timer for the next reservation that expires, unless an earlier one is pending.
func (w *Worker) wakeForReserved(fx *grid.Effects) {
	if next := w.table().Next(); next < grid.Never && (w.reserveWake == 0 || next < w.reserveWake) {
		w.reserveWake = next
		fx.Wake(next, grid.TimerReserve, 0)
	}
}

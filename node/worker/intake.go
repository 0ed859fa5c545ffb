package worker

import (
	"skep/grid"
	"skep/node/intake"
)

// Offers of several owners that want the same resources are gathered, and the set that is worth most is accepted: see
// package intake.

// askedAbout notes that a node was told how soon a task would be done here: its offer may follow.
func (w *Worker) askedAbout(now grid.Time, from grid.NodeID, options []grid.PollOption) {
	if len(options) == 0 || w.cfg.Order == nil || w.cfg.Order.OfferWindow == 0 {
		return
	}
	if w.intake == nil {
		w.intake = intake.New(intake.Config{Longest: w.cfg.Order.OfferWindow, Utility: intake.UtilityOf(w.cfg.Policy)})
	}
	w.intake.Asked(now, from, options)
}

// Gathers reports whether an offer that may be accepted is decided later, when Gathered returns it. Where tasks share
// the cores there is room for all of them.
func (w *Worker) Gathers(now grid.Time, from grid.NodeID, o *grid.Offer, verified bool, fx *grid.Effects) bool {
	if w.intake == nil {
		return false
	}
	level := o.Class
	if l := grid.LevelOf(o.Spec); l != "" {
		if class, _ := grid.ClassOfLevel(l); class == o.Class {
			level = l
		}
	}
	f := intake.FactsOf(o, w.exec.Mean(now, level, w.cfg.RunTime))
	f.Gathers, f.Verified = from != w.cfg.Self && o.Option > 0 && !o.Pulled && !o.Spec.IsGang() &&
		w.cfg.Contacts.KnowsPrices(from), verified
	if !w.intake.Gather(now, from, o, f, w.exec.Free(), w.exec.Waiting() == 0 && !w.exec.Shares()) {
		return false
	}
	if at := w.intake.Closes(); at > now {
		fx.Wake(at, grid.TimerIntake, 0)
	}
	return true
}

// Gathered returns the next offer that was gathered and is to be accepted, unless something stands against it by now;
// nil = there is none. Those that others outweigh are refused before.
func (w *Worker) Gathered(now grid.Time, fx *grid.Effects) (grid.NodeID, *grid.Offer) {
	if w.intake == nil {
		return grid.NodeID{}, nil
	}
	if w.intake.Closes() <= now {
		w.intake.Close(w.exec.Free(), func(d *intake.Decision) {
			w.neverRan.add(tombstone{d.Offer.ID, d.From != d.Offer.ID.Task.Job.Origin && !d.Facts.Verified})
			m := fx.Send(d.From, grid.KindRefuse)
			m.Attempts, m.Prices, m.Refusal.Why = append(m.Attempts, d.Offer.ID), d.Prices, grid.WhyWorth
		})
	}
	return w.intake.Next()
}

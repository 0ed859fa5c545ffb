package intake

import (
	"slices"
	"time"

	"skep/balance/utility"
	"skep/grid"
)

// Bounds of what is kept: nodes that have asked, offers that are gathered, and tasks that were refused.
const (
	mostRivals  = 32
	mostOffers  = 64
	mostRefused = 256
)

// Config is how a node gathers offers.
type Config struct {
	// Longest is for how long a window is open at most, after its first offer; 0 = none opens. A longer one meets more
	// offers, and delays those that nothing comes to.
	Longest time.Duration

	Utility utility.Function // that has passed its check
}

// Window gathers offers.
type Window struct {
	cfg     Config
	rivals  []rival
	offers  []Gathered
	closes  grid.Time // when the window closes; 0 = it is not open
	refused []grid.TaskID
	taken   []Gathered
	settled grid.AttemptID // that Next has returned
	chooser chooser
}

// rival is a node that has asked about a task, and has offered none since.
type rival struct {
	node  grid.NodeID
	asked grid.Time
	wants []grid.PollOption
}

// Gathered is an offer that was gathered. Its memory is its own, but for what is immutable.
type Gathered struct {
	From  grid.NodeID
	Offer grid.Offer
	Facts Facts
}

// New returns a window that is not open.
func New(cfg Config) *Window { return &Window{cfg: cfg} }

// Asked notes that a node was told, in answer to a poll, how soon a task of a job with options would be done here.
func (w *Window) Asked(now grid.Time, from grid.NodeID, options []grid.PollOption) {
	w.expire(now)
	at := slices.IndexFunc(w.rivals, func(r rival) bool { return r.node == from })
	if at < 0 {
		if len(w.rivals) == mostRivals {
			w.rivals = slices.Delete(w.rivals, 0, 1)
		}
		w.rivals = append(w.rivals, rival{})
		at = len(w.rivals) - 1
	}
	r := &w.rivals[at]
	r.node, r.asked, r.wants = from, now, append(r.wants[:0], options...)
}

func (w *Window) expire(now grid.Time) {
	w.rivals = slices.DeleteFunc(w.rivals, func(r rival) bool { return now.Sub(r.asked) > w.cfg.Longest })
}

// Gather takes an offer that would be accepted, and reports whether it is gathered: then it gets its answer when the
// window closes. Free is what nothing runs on, and idle that no work waits for it.
func (w *Window) Gather(now grid.Time, from grid.NodeID, o *grid.Offer, f Facts, free grid.Resources, idle bool) bool {
	if w.repeated(o) {
		return true
	}
	w.offered(from)
	if o.ID == w.settled || !f.Gathers || !idle || !free.Fits(f.Needs) || slices.Contains(w.refused, o.ID.Task) {
		return false
	}
	if w.closes == 0 {
		w.expire(now)
		until := w.contested(free.Minus(f.Needs), free)
		if until == 0 {
			return false
		}
		w.closes = until.Add(w.cfg.Longest)
	}
	w.offers = append(w.offers, Gathered{from, clone(o), f})
	return true
}

// repeated reports whether an offer is one that is gathered. An older one of the same task is dropped: its owner has
// given that attempt up.
func (w *Window) repeated(o *grid.Offer) bool {
	at := slices.IndexFunc(w.offers, func(x Gathered) bool { return x.Offer.ID.Task == o.ID.Task })
	if at < 0 {
		return false
	}
	if w.offers[at].Offer.ID == o.ID {
		return true
	}
	w.offers = slices.Delete(w.offers, at, at+1)
	return false
}

// offered notes that a node has made an offer: it is awaited no more.
func (w *Window) offered(from grid.NodeID) {
	w.rivals = slices.DeleteFunc(w.rivals, func(r rival) bool { return r.node == from })
}

// contested is when the last of those asked who have not offered yet, if one of the ways in which their tasks could run
// does not fit into what is left although it would alone; 0 = there is room for all.
func (w *Window) contested(left, free grid.Resources) (last grid.Time) {
	for i := range w.rivals {
		r, most := &w.rivals[i], grid.Resources{}
		for _, o := range r.wants {
			switch {
			case !free.Fits(o.Needs):
			case !left.Fits(o.Needs):
				last = max(last, r.asked)
			case o.Needs.CPU >= most.CPU:
				most = o.Needs
			}
		}
		left = left.Minus(most)
	}
	return last
}

// Closes is when the window closes: at once, if nobody is awaited any more or it is full; Never if it is not open.
func (w *Window) Closes() grid.Time {
	switch {
	case w.closes == 0:
		return grid.Never
	case len(w.rivals) == 0 || len(w.offers) >= mostOffers:
		return 0
	}
	return w.closes
}

// clone copies what an offer does not share with others that are immutable.
func clone(o *grid.Offer) grid.Offer {
	c := *o
	c.Members, c.Barred = slices.Clone(o.Members), slices.Clone(o.Barred)
	return c
}

// remember keeps that a task was refused; the oldest is forgotten beyond the bound.
func (w *Window) remember(id grid.TaskID) {
	if len(w.refused) == mostRefused {
		w.refused = slices.Delete(w.refused, 0, 1)
	}
	w.refused = append(w.refused, id)
}

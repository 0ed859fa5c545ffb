package exec

import (
	"cmp"
	"iter"
	"slices"

	"skep/grid"
)

// Preemption: protocols HBP (order.Config.Preempt 1) and HBP-T of [2].

// StartSuspending starts the first queued work, in the order of turns, that gets its cores when running work of lower
// bids is suspended, and suspends that: the lowest bid first, of equal ones what has run for the shortest time. nil =
// there is none.
func (e *Exec) StartSuspending(now grid.Time) (start *Work, suspended []*Work) {
	if e.suspended == nil || len(e.running) == 0 || e.overdue() {
		return nil, nil
	}
	var head *Work // the first that is passed
	for w := range e.heads(now) {
		if victims := e.victims(now, e.bid(w), w.Spec.Needs.Resources); len(victims) > 0 {
			if head != nil {
				head.passed++
			}
			for _, v := range victims {
				e.suspend(now, v, w)
			}
			e.Start(now, w)
			return w, victims
		}
		if head == nil {
			head = w
		}
		if head.passed >= MaxPassed {
			return nil, nil
		}
	}
	return nil, nil
}

// heads yields, in the order of turns, the first work of each line that has no slot yet and may start: what follows in
// a line bids about the same.
func (e *Exec) heads(now grid.Time) iter.Seq[*Work] {
	return func(yield func(*Work) bool) {
		for _, l := range e.lines.inTurn(now) {
			at := slices.IndexFunc(l.Of.awake, func(w *Work) bool { return !w.Held && (e.gate == nil || e.gate(now, w)) })
			if at >= 0 && !yield(l.Of.awake[at]) {
				return
			}
		}
	}
}

// overdue reports whether suspended work waits for its cores that is to go on before anything else starts.
func (e *Exec) overdue() bool {
	return e.suspended != nil && slices.ContainsFunc(e.suspended.list, func(x *suspension) bool {
		return x.on && x.time(e.lines.now) >= grid.MaxSuspended
	})
}

// victims returns what is to be suspended so that work with a bid and a need can start, which lacks cores alone; nil =
// it lacks something else, or nothing, or there is not enough.
func (e *Exec) victims(now grid.Time, bid grid.Bid, need grid.Resources) (victims []*Work) {
	lack := need.CPU - e.free.CPU
	if e.free.Memory < need.Memory || !e.free.Counts.Fits(need.Counts) || lack <= 0 {
		return nil
	}
	for _, w := range e.running {
		if e.outbids(bid, w) && e.suspended.allow(now, w) {
			victims = append(victims, w)
		}
	}
	slices.SortStableFunc(victims, func(a, b *Work) int {
		return cmp.Or(cmp.Compare(e.bid(a), e.bid(b)), cmp.Compare(b.Started, a.Started))
	})
	for i, w := range victims {
		if lack -= w.Spec.Needs.CPU; lack <= 0 {
			return victims[:i+1]
		}
	}
	return nil
}

// bid is the bid of work, up to the highest that this node knows.
func (e *Exec) bid(w *Work) grid.Bid { return e.lines.cfg.Cap(w.Spec.Bid()) }

// outbids reports whether a bid is high enough to have running work suspended.
func (e *Exec) outbids(bid grid.Bid, w *Work) bool {
	return e.lines.cfg.Preempt > 0 && bid > e.bid(w) && float64(bid) >= e.lines.cfg.Preempt*float64(e.bid(w))
}

// suspendsFor reports whether running work would be suspended for a task that came now, with a bid above all that wait.
func (e *Exec) suspendsFor(now grid.Time, bid grid.Bid, need grid.Resources) bool {
	if e.suspended == nil || e.lines.all == nil || bid == 0 {
		return false
	}
	bid = e.lines.cfg.Cap(bid)
	for _, l := range e.lines.all.Open() {
		if list := l.Of.awake; len(list) > 0 && e.bid(list[0]) >= bid {
			return false
		}
	}
	return !e.overdue() && len(e.victims(now, bid, need)) > 0
}

// allow reports whether running work may be suspended. A rank of a gang is not, since the others would wait for it, nor
// is work with counted resources or cores of its own, which it keeps, nor what has begun at this moment: the driver is
// yet to start it.
func (s *suspensions) allow(now grid.Time, w *Work) bool {
	if w.Spec.IsGang() || w.Spec.Needs.Counts != "" || w.Spec.Needs.Pin || w.Started == now {
		return false
	}
	x := s.of(w)
	return x == nil || !x.on && x.times < grid.MaxSuspensions && x.ended < grid.MaxSuspended
}

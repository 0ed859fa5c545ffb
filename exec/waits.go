package exec

import (
	"slices"

	"skep/grid"
)

// Waits calls f for the first queued work, up to most, that waits for a slot, in order, with the expected time in
// seconds until each would be done: as Wait says it for work that comes after it, and its mean. Work whose inputs come,
// or that waits for its start lease beside a free slot, does not wait for a slot; dormant work waits for none, and
// nothing waits for it. f returns false to end it.
func (e *Exec) Waits(now grid.Time, law Law, most int, f func(w *Work, end float64) bool) {
	e.updateAges(now)
	var need grid.Resources // of the last work
	var bid grid.Bid
	var of *class
	first, mean, speed := 0.0, 0.0, 1.0
	var ahead backlog
	for _, w := range e.foresee(now, law, most) {
		if w.sleep == dormant {
			continue
		}
		if of == nil || w.Spec.Needs.Resources != need || e.sharing != nil && w.Spec.Bid() != bid {
			need, bid = w.Spec.Needs.Resources, w.Spec.Bid()
			ran, rest := e.Ahead(now, bid, need, law)
			if first = rest; e.whole {
				first += ran
			}
			speed = e.SpeedOf(bid, need.CPU)
		}
		if w.class != of {
			of, mean = w.class, w.class.mean(law)
		}
		if e.waitsForSlot(w) && !f(w, first+ahead.wait(e, need.Counts)+mean/speed) {
			return
		}
		if w.Held {
			continue
		}
		if need.Counts == "" {
			ahead.addPlain(int64(need.CPU), mean)
		} else {
			ahead.addHolds(e, int64(need.CPU), need.Counts, mean)
		}
	}
}

// foresee returns the first queued work, up to most, in the order in which it is expected to start. Where several lines
// wait, what sleeps comes last.
func (e *Exec) foresee(now grid.Time, law Law, most int) []*Work {
	first := e.queue.head(most)
	if e.lines.all == nil {
		return first
	}
	if _, single := e.lines.all.Single(); single {
		return first
	}
	seen := make([]*Work, 0, most)
	taken := make(map[*line]int)
	e.lines.all.Walk(now, func(l *line) (used float64, found, end bool) {
		if taken[l] == len(l.Of.awake) {
			return 0, false, false
		}
		w := l.Of.awake[taken[l]]
		taken[l]++
		seen = append(seen, w)
		return w.Spec.Needs.CPU.Cores() * w.class.mean(law), true, len(seen) == most
	})
	for _, w := range first {
		if len(seen) < most && w.sleep == asleep {
			seen = append(seen, w)
		}
	}
	return seen
}

// waitsForSlot reports whether queued work lacks nothing but a slot.
func (e *Exec) waitsForSlot(w *Work) bool {
	return w.ready && !w.Held && !e.fits(w.Spec.Bid(), w.Spec.Needs.Resources)
}

// mayPass reports whether work may pass the first of the queue that wait for a slot, up to most.
func (e *Exec) mayPass(most int) bool {
	return !slices.ContainsFunc(e.queue.head(most), func(w *Work) bool {
		return w.sleep != dormant && w.passed >= MaxPassed && e.waitsForSlot(w)
	})
}

// Room returns the resources that are free and that no queued work is about to take; false = work waits for a slot. It
// looks at the first of the queue, up to most, and at what the rest needs at least. What is free beside work that waits
// for more cores or memory is room, for work that passes it, unless it has been passed too often; so is what is free
// beside work that waits for counted resources, for work that needs none of these.
func (e *Exec) Room(most int) (room grid.Resources, none bool) {
	if e.overdue() {
		return grid.Resources{}, false
	}
	room, none = e.Free(), true
	for _, w := range e.queue.head(most) {
		switch need := w.Spec.Needs.Resources; {
		case w.Held, w.sleep == dormant:
		case !e.waitsForSlot(w):
			room = room.Minus(need)
		case e.fitsPlain(w.Spec.Bid(), need), w.passed < MaxPassed:
			none = false
		default:
			return grid.Resources{}, false
		}
	}
	if !none || room.Counts.Negative() {
		room.Counts = ""
	}
	if e.queue.Len() > most && (none || e.mayTake(e.free.CPU)) || room.CPU <= 0 || room.Memory < 0 {
		return grid.Resources{}, none
	}
	return room, none
}

// mayTake reports whether queued work may need no more than so many cores, and no counted resources.
func (e *Exec) mayTake(cores grid.MilliCPU) bool {
	return slices.ContainsFunc(e.classes, func(c *class) bool { return c.queued > 0 && c.least <= int64(cores) })
}

// mayTakeAny is mayTake whatever else the work needs.
func (e *Exec) mayTakeAny(cores grid.MilliCPU) bool {
	holds := func(c *class) bool { return c.holds != nil && c.holds.cpu > 0 }
	return e.mayTake(cores) || slices.ContainsFunc(e.classes, holds)
}

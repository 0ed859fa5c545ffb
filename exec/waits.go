package exec

import "skep/grid"

// Waits calls f for the first queued work, up to most, that waits for a slot, in order, with the expected time in
// seconds until each would be done: as Wait says it for work that comes after it, and its mean. Work whose inputs come,
// or that waits for its start lease beside a free slot, does not wait for a slot. f returns false to end it.
func (e *Exec) Waits(now grid.Time, law Law, most int, f func(w *Work, end float64) bool) {
	e.updateAges(now)
	var need grid.Resources // of the last work
	var of *class
	first, mean, before := 0.0, 0.0, 0.0
	for i, w := range e.queue[:min(len(e.queue), most)] {
		if i == 0 || w.Spec.Needs.Resources != need {
			need = w.Spec.Needs.Resources
			ran, rest := e.Ahead(now, need, law)
			if first = rest; e.whole {
				first += ran
			}
		}
		if w.class != of {
			of, mean = w.class, w.class.mean(law)
		}
		if w.waitsForSlot(e) && !f(w, first+before/float64(max(e.capacity.CPU, 1))+mean) {
			return
		}
		before += float64(need.CPU) * mean
	}
}

func (w *Work) waitsForSlot(e *Exec) bool { return w.ready && !e.free.Fits(w.Spec.Needs.Resources) }

// Room returns the resources that are free and that no queued work is about to take; false = work waits for a slot. It
// looks at the first of the queue, up to most.
func (e *Exec) Room(most int) (grid.Resources, bool) {
	room := e.free
	for _, w := range e.queue[:min(len(e.queue), most)] {
		if w.waitsForSlot(e) {
			return grid.Resources{}, false
		}
		room = room.Minus(w.Spec.Needs.Resources)
	}
	if len(e.queue) > most || room.CPU <= 0 || room.Memory < 0 {
		return grid.Resources{}, true
	}
	return room, true
}

package exec

import "skep/grid"

// Waits calls f for the queued work, in order, with the expected time in seconds until each would start, as Wait says it for
// work that comes after it; until f returns false.
func (e *Exec) Waits(now grid.Time, law Law, f func(w *Work, wait float64) bool) {
	e.updateAges(now)
	before := 0.0
	for _, w := range e.queue {
		need := w.Spec.Needs.Resources
		ran, first := e.Ahead(now, need, law)
		if e.whole {
			first += ran
		}
		if !f(w, first+before/float64(max(e.capacity.CPU, 1))) {
			return
		}
		before += float64(need.CPU) * w.class.mean(law)
	}
}

package reservation

import (
	"testing"
)

// settled lets a step end at the worker: what it keeps is filled, and who waits is told.
func (w *world) settled(s float64) string {
	w.fx.Reset()
	w.tb.Fill(&w.fx)
	if w.tb.HandsOver() {
		w.tb.HandOver(at(s), &w.fx)
	}
	return w.said()
}

const free = " 0 keeps slots for no other gang any more"

// The first gang of each owner in line is told when the one before has started or ended; the first of all first. It is
// told once, and nobody is while slots are kept.
func TestHandOver(t *testing.T) {
	w := newWorld(t)
	w.want("the first", w.askAged(0, "a1", 0, 4, 1, false), "a1 4")
	for _, name := range []string{"c1", "b1", "b2"} {
		w.want("in line", w.ask(1, name, 2, 1, false), name+" 0 keeps its slots for another gang (a1)")
	}
	for range 3 {
		w.take(2, "a1", 1)
		w.want("some are still kept", w.settled(2), "")
	}
	w.take(2, "a1", 1)
	w.want("it may still lack slots elsewhere", w.settled(2), "")
	w.tb.PassOn()
	w.want("it has started", w.settled(2), "b1"+free+"; c1"+free)
	w.want("once", w.settled(3), "")
	w.tb.PassOn()
	w.want("ended", w.settled(4), "b1"+free+"; c1"+free)
	w.ask(5, "c1", 2, 2, true)
	w.tb.PassOn()
	w.want("one keeps slots", w.settled(6), "")
	w.ask(7, "c1", 0, 2, true)
	w.want("it releases them", w.settled(7), "b1"+free)
	w.tb.Expire(at(100))
	w.tb.PassOn()
	w.want("nobody asked of late", w.settled(100), "")
}

// Only those are told who would get slots that become free: one that had some in vain rests first.
func TestHandOverDuringRest(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "b1", 4, 1, false)
	w.ask(4, "b1", 0, 1, false)
	w.want("another", w.ask(4.1, "x1", 4, 1, false), "x1 4")
	for range 4 {
		w.take(4.1, "x1", 1)
	}
	w.want("it is refused", w.ask(4.2, "b1", 2, 2, false), "b1 0 has too few free slots")
	w.tb.PassOn()
	w.want("it rests", w.settled(4.3), "")
	w.ask(4.5, "c1", 2, 1, false)
	w.tb.PassOn()
	w.want("another one waits", w.settled(4.6), "c1"+free)
	w.tb.PassOn()
	w.want("it has rested", w.settled(8), "b1"+free+"; c1"+free)
}

// What is kept in vain is handed over too: released, or not used in time.
func TestHandOverOfWhatIsKeptInVain(t *testing.T) {
	for what, end := range map[string]func(w *world){
		"released": func(w *world) { w.ask(10, "a1", 0, 1, false) },
		"expired":  func(w *world) { w.tb.Expire(at(10)) },
	} {
		w := newWorld(t)
		w.ask(0, "a1", 4, 1, false)
		w.want("in line", w.ask(1, "b1", 2, 1, false), "b1 0 keeps its slots for another gang (a1)")
		w.want("they are kept", w.settled(1), "")
		end(w)
		w.want(what, w.settled(10), "b1"+free)
	}
}

// A hand-over that comes while slots are kept waits until they are used.
func TestHandOverWaits(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "a1", 2, 1, false)
	w.ask(1, "b1", 4, 1, false)
	w.tb.PassOn() // another one has ended
	w.want("two are kept", w.settled(1), "")
	w.take(2, "a1", 1)
	w.want("one is kept", w.settled(2), "")
	w.take(2, "a1", 1)
	w.want("none is kept", w.settled(2), "b1"+free)
}

// An older gang in line is told when a younger one begins to fill; a younger one is not.
func TestOvertaken(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "x1", 4, 1, false)
	for range 4 {
		w.take(0, "x1", 1)
	}
	w.want("the older one", w.ask(1, "b1", 2, 1, false), "b1 0 has too few free slots")
	w.want("the youngest one", w.ask(5, "d1", 2, 1, false), "d1 0 has too few free slots")
	w.want("a younger one fills", w.ask(3, "c1", 2, 1, true), "b1"+free)
	w.want("it is wounded", w.ask(4, "b1", 2, 2, true), "c1 0 has given its slots to an older gang (b1)")
}

// One hand-over is told to few owners, however many wait.
func TestHandOverIsBounded(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.ask(0, string([]byte{byte('A' + i), '1'}), 5, 1, false)
	}
	w.tb.PassOn()
	if w.settled(1); len(w.fx.Sends) != maxTold {
		t.Errorf("%d owners are told: want %d", len(w.fx.Sends), maxTold)
	}
}

// An owner that is wounded may ask again at once, one that released its slots may not: it had them in vain.
func TestWoundedNeedsNoRest(t *testing.T) {
	w := newWorld(t)
	w.ask(0, "b1", 4, 1, false)
	w.want("an older one", w.askAged(5, "a1", maxAge, 3, 1, false), "b1 0 has given its slots to an older gang (a1); a1 3")
	w.want("the wounded one", w.ask(5, "b1", 1, 2, false), "b1 1")
	w.ask(9, "b1", 0, 2, false)
	w.ask(9, "c1", 4, 1, false) // another one wants slots
	w.want("that released", w.ask(9, "b1", 1, 3, false), "b1 1 keeps as many slots for this owner as it may")
}

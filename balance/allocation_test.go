package balance

import (
	"slices"
	"testing"

	"skep/grid"
)

// Several slots are that much capacity.
func TestSlotsAreCapacity(t *testing.T) {
	w := &world{alpha: even([]float64{6}, 2), mu: [][]float64{{2, 3}}, slots: []float64{3, 2}}
	p := mustMake(t, "lpas_dec", Config{}, 1)
	w.tell(p)
	polled(p, w.view(0, 0), 0)
	if got := p.(Solver).Lambda(); !near(got, 2, 1e-9) {
		t.Errorf("lambda %g, want (3·2 + 2·3)/6 = 2", got)
	}
	w.slots[1] = 0 // reads as 1
	p.Note(w.column(1))
	polled(p, w.view(0, 0), 0)
	if got := p.(Solver).Lambda(); !near(got, 1.5, 1e-9) {
		t.Errorf("lambda %g, want (3·2 + 1·3)/6 = 1.5", got)
	}
}

// The LP is solved again only when a rate has moved by more than Resolve, and then on the next arrival.
func TestResolve(t *testing.T) {
	for _, c := range []struct {
		resolve float64
		change  func(*world)
		solves  uint64
	}{
		{0, func(*world) {}, 1},
		{0, func(w *world) { w.mu[0][0] *= 1.001 }, 2},
		{0, func(w *world) { w.alpha[0][0] *= 1.001 }, 2},
		{0.1, func(w *world) { w.mu[0][0] *= 1.09 }, 1},
		{0.1, func(w *world) { w.mu[0][0] *= 1.11 }, 2},
		{0.1, func(w *world) { w.mu[0][0] *= 0.89 }, 2},
		{0.1, func(w *world) { w.mu[0][0] = 0 }, 2},
		{0.1, func(w *world) { w.alpha[0][0] *= 1.5 }, 1}, // of a sum of 12.5 it is a little
		{0.1, func(w *world) { w.alpha[0][4] *= 1.5 }, 2},
		{0.1, func(w *world) { w.slots[3] = 2 }, 2},
	} {
		w := system4A()
		w.slots = []float64{1, 1, 1, 1, 1, 1, 1}
		p := mustMake(t, "lpas_dec", Config{Resolve: c.resolve}, 1)
		w.tell(p)
		polled(p, w.view(0, 0), 0)
		c.change(w)
		w.tell(p)
		if got := p.(Solver).Solves(); got != 1 {
			t.Errorf("solved %d times before the next arrival", got)
		}
		polled(p, w.view(0, 0), 0)
		polled(p, w.view(0, 1), 1)
		if got := p.(Solver).Solves(); got != c.solves {
			t.Errorf("resolve %g: solved %d times, want %d", c.resolve, got, c.solves)
		}
	}
}

// Small steps add up: what counts is the distance to what was solved.
func TestResolveAddsUp(t *testing.T) {
	w := system4A()
	p := mustMake(t, "lpas_dec", Config{Resolve: 0.1}, 1)
	w.tell(p)
	for range 12 {
		polled(p, w.view(0, 0), 0)
		w.mu[0][0] *= 1.01
		p.Note(w.column(0))
	}
	polled(p, w.view(0, 0), 0)
	if got := p.(Solver).Solves(); got != 2 {
		t.Errorf("solved %d times in 12 steps of 1%%, want 2", got)
	}
}

// Beyond the busiest classes, the others share a row.
func TestOtherClasses(t *testing.T) {
	w := &world{alpha: even([]float64{8, 4, 1, 1}, 3), mu: [][]float64{
		{9, 1, 1}, {1, 9, 1}, {0.1, 0.1, 4}, {0.1, 0.1, 2}}}
	p := mustMake(t, "lpas_dec", Config{Classes: 2}, 1)
	w.tell(p)
	for class, want := range [][]int{{1}, {2}, {3}, {3}} {
		if got := polled(p, w.view(0, class), class); !slices.Contains(got, want[0]) {
			t.Errorf("class %d asks %v, want %v among them", class+1, got, want)
		}
	}
	a := &p.(*lpasDec).allocation
	if len(a.own) != 2 || a.rest != 2 || !near(a.problem.Alpha[2], 2, 1e-12) {
		t.Fatalf("rows %v, rest %d, alpha %v", a.own, a.rest, a.problem.Alpha)
	}
	// Equal arrivals: 2 tasks take 1/4 + 1/2 s.
	if got := a.problem.Mu[2*3+2]; !near(got, 8.0/3, 1e-9) {
		t.Errorf("the rest runs at %g on machine 3, want 8/3", got)
	}
	if got := polled(p, w.view(0, 0), 9); !slices.Contains(got, 3) {
		t.Errorf("an unknown class asks %v, want where the rest goes", got)
	}
}

// A class that a column leaves out its node cannot run, whatever it does with others; a class that no
// column names runs like "other".
func TestLeftOut(t *testing.T) {
	p := mustMake(t, "met", Config{}, 1)
	p.Note(Outcome{Kind: Rates, Node: nodeID(0), Rates: []grid.Rate{{Class: "class1", Mu: 2},
		{Class: grid.OtherClass, Mu: 1}}})
	p.Note(Outcome{Kind: Rates, Node: nodeID(1), Rates: []grid.Rate{{Class: grid.OtherClass, Mu: 3}}})
	answers := []State{{Node: nodeID(0)}, {Node: nodeID(1)}}
	if c := p.Choose(0, task(0), answers); c.Node != nodeID(0) {
		t.Errorf("chose %+v, want the first", c)
	}
	if c := p.Choose(0, task(8), answers); c.Node != nodeID(1) {
		t.Errorf("chose %+v, want the second", c)
	}
}

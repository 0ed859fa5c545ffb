package balance

import (
	"math"
	"slices"
	"testing"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// Class 1 is sent to machine 2 only, though machine 1 is the faster one for both: [1, section 2.2.1].
func TestSystem2A(t *testing.T) {
	w := &world{alpha: even([]float64{2.45, 2.45}, 2), mu: [][]float64{{9, 5}, {2, 1}}}
	p := mustMake(t, "lpas_dec", Config{}, 1)
	w.tell(p)
	for class, want := range [][]int{{2}, {1, 2}} {
		if got := polled(p, w.view(0, class), class); !slices.Equal(got, want) {
			t.Errorf("class %d asks machines %v, want %v", class+1, got, want)
		}
	}
	if s := p.(Solver); !near(s.Lambda(), 1.0204, 5e-5) || s.Solves() != 1 {
		t.Errorf("lambda %.4f after %d solves, want 1.0204 after 1", s.Lambda(), s.Solves())
	}
	answers := []State{{Node: nodeID(1), ECT: 3}}
	if c := p.Choose(0, task(0), answers); c.Act != Place || c.Node != nodeID(1) || c.ECT != 3 {
		t.Errorf("chose %+v", c)
	}
}

// The example of [1, section 4.2]: machine 2 sees its own arrivals fall and solves again, machine 1 has
// the old matrix still, and both ask the same nodes.
func TestSection42Example(t *testing.T) {
	w := &world{alpha: [][]float64{{1, 1.45}, {1, 1.45}}, mu: [][]float64{{9, 5}, {2, 1}}}
	var ps [2]Policy
	for j := range ps {
		ps[j] = mustMake(t, "lpas_dec", Config{}, uint64(j))
		w.tell(ps[j])
		polled(ps[j], w.view(j, 0), 0)
	}
	shares(t, ps[1], [][]float64{{0, .5}, {1, .5}})
	w.alpha[0][1] = 0.5
	ps[1].Note(w.column(1))
	for class, want := range [][]int{{2}, {1, 2}} {
		for j, p := range ps {
			if got := polled(p, w.view(j, class), class); !slices.Equal(got, want) {
				t.Errorf("machine %d asks %v for class %d, want %v", j+1, got, class+1, want)
			}
		}
	}
	shares(t, ps[0], [][]float64{{0, .5}, {1, .5}})
	shares(t, ps[1], [][]float64{{0, .3273}, {1, .6727}})
	if got := ps[1].(Solver).Lambda(); !near(got, 1.0909, 5e-5) {
		t.Errorf("lambda %.4f, want 1.0909", got)
	}
	if a, b := ps[0].(Solver).Solves(), ps[1].(Solver).Solves(); a != 1 || b != 2 {
		t.Errorf("%d and %d solves, want 1 and 2", a, b)
	}
}

func shares(t *testing.T, p Policy, want [][]float64) {
	t.Helper()
	a := &p.(*lpasDec).allocation
	m := len(a.problem.Cap)
	got := make([]float64, len(want)*m)
	for _, s := range a.ws.Last.Delta {
		got[int(s.Class)*m+int(s.Machine)] = s.Part
	}
	for i := range want {
		for j, d := range want[i] {
			if !near(got[i*m+j], d, 5e-5) {
				t.Errorf("share of class %d on machine %d is %.4f, want %.4f", i+1, j+1, got[i*m+j], d)
			}
		}
	}
}

func TestSystem4ASupports(t *testing.T) {
	w := system4A()
	p := mustMake(t, "lpas_dec", Config{}, 1)
	w.tell(p)
	for class, want := range [][]int{{3, 5}, {1, 3, 6, 7}, {1, 4}, {2, 6}} {
		if got := polled(p, w.view(0, class), class); !slices.Equal(got, want) {
			t.Errorf("class %d asks %v, want %v", class+1, got, want)
		}
	}
	if got := p.(Solver).Lambda(); !near(got, 1.3449, 5e-5) {
		t.Errorf("lambda %.4f, want 1.3449", got)
	}
}

// A machine that went leaves the LP at once, and is back when its column is.
func TestGoneAndBack(t *testing.T) {
	w := system4A()
	p := mustMake(t, "lpas_dec", Config{}, 1)
	w.tell(p)
	if got := polled(p, w.view(0, 0), 0); !slices.Equal(got, []int{3, 5}) {
		t.Fatalf("asks %v", got)
	}
	p.Note(Outcome{Kind: Gone, Node: nodeID(4)})
	if got := polled(p, w.view(0, 0), 0); slices.Contains(got, 5) || len(got) < 1 {
		t.Errorf("with machine 5 gone class 1 asks %v", got)
	}
	p.Note(Outcome{Kind: Gone, Node: nodeID(4)})
	if got := p.(Solver).Solves(); got != 2 {
		t.Errorf("solved %d times, want once more for the machine that went", got)
	}
	p.Note(w.column(4))
	if got := polled(p, w.view(0, 0), 0); !slices.Equal(got, []int{3, 5}) {
		t.Errorf("with machine 5 back class 1 asks %v, want 3 and 5", got)
	}
	if got := p.(Solver).Lambda(); !near(got, 1.3449, 5e-5) {
		t.Errorf("lambda %.4f, want 1.3449", got)
	}
}

// No support that can be reached: all that can run the class stand in, and they only.
func TestFallback(t *testing.T) {
	w := &world{alpha: even([]float64{2.45, 2.45}, 3), mu: [][]float64{{9, 5, 0}, {2, 1, 1}}}
	p := mustMake(t, "lpas_dec", Config{}, 1)
	w.tell(p)
	all := w.view(0, 0)
	support := polled(p, all, 0)
	v := View{Self: all.Self}
	for _, s := range all.Nodes {
		if !slices.Contains(support, int(s.Node[1])) {
			v.Nodes = append(v.Nodes, s)
		}
	}
	if len(support) == 2 || len(v.Nodes) != 2 {
		t.Fatalf("the example is no example: support %v", support)
	}
	for _, j := range polled(p, v, 0) {
		if j == 3 || slices.Contains(support, j) {
			t.Errorf("asks machine %d", j)
		}
	}
	// Only machines that are known not to run it: better asked than nobody.
	if got := polled(p, View{Self: nodeID(2), Nodes: all.Nodes[2:]}, 0); !slices.Equal(got, []int{3}) {
		t.Errorf("asks %v, want 3", got)
	}
	// A class that nobody has heard of goes wherever it fits.
	if got := polled(p, all, 7); len(got) != 3 {
		t.Errorf("an unknown class asks %v, want all", got)
	}
	// Without anybody there is only waiting; with somebody left, others are asked.
	if got := polled(p, View{}, 0); got != nil {
		t.Errorf("asks %v of an empty view", got)
	}
	if c := p.Choose(0, task(0), nil); c.Act != Wait {
		t.Errorf("nobody there: %+v, want Wait", c)
	}
	polled(p, all, 0)
	if c := p.Choose(0, task(0), nil); c.Act != PollMore {
		t.Errorf("nobody answered: %+v, want PollMore", c)
	}
}

// PollMax of the support, by weight, and the decider besides; now and then one more from outside.
func TestPollMaxAndExplore(t *testing.T) {
	const machines = 40
	w := &world{alpha: even([]float64{30}, machines), mu: [][]float64{make([]float64, machines)}}
	for j := range w.mu[0] {
		w.mu[0][j] = 1
	}
	w.mu[0][7] = 8
	w.mu[0][30], w.mu[0][31] = 0, 0
	p := mustMake(t, "lpas_dec", Config{PollMax: 3, Explore: 0.25}, 5)
	w.tell(p)
	v := w.view(2, 0)
	const draws = 4000
	var fast, four, outside int
	for range draws {
		got := polled(p, v, 0)
		if !slices.Contains(got, 3) {
			t.Fatalf("asks %v, not the decider", got)
		}
		if slices.Contains(got, 8) {
			fast++
		}
		switch out := slices.Contains(got, 31) || slices.Contains(got, 32); {
		case len(got) == 4 && !out:
			four++
		case len(got) == 5 && out:
			outside++
		default:
			t.Fatalf("asks %v", got)
		}
	}
	if got := float64(outside) / draws; !near(got, 0.25, 0.03) {
		t.Errorf("explores in %.3f of all, want 0.25", got)
	}
	// One draw in three of weights 8 and 36 × 1, without putting back: 0.478.
	if got := float64(fast) / draws; !near(got, 0.478, 0.03) {
		t.Errorf("the fast machine is asked in %.3f of all, want 0.478", got)
	}
}

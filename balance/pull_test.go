package balance

import (
	"slices"
	"strings"
	"testing"

	"skep/grid"
)

func mustPull(t *testing.T, name string) Pull {
	t.Helper()
	p, err := MakePull(name, Config{}, grid.NewRand(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tellPull tells the rates, with the availabilities of the machines as their capacity.
func tellPull(p Pull, w *world, available ...float64) {
	for j := range w.machines() {
		c := w.column(j)
		if available[j] == 0 {
			for i := range c.Rates {
				c.Rates[i].Mu = 0
			}
		} else {
			c.Slots = available[j]
		}
		p.Note(c)
	}
}

// takes returns the classes that a machine would take if each waited alone.
func takes(p Pull, w *world, j int) (classes []int) {
	for i := range w.mu {
		if _, ok := p.Next(5e9, State{Node: nodeID(j)}, []Head{{Class: className(i), Since: 1e9}}); ok {
			classes = append(classes, i+1)
		}
	}
	return classes
}

// The worked examples of [1, section 3.3]: who takes what follows the availabilities and failures.
func TestLPASDGExamples(t *testing.T) {
	two := &world{alpha: even([]float64{1, 1.5}, 2), mu: [][]float64{{9, 5}, {2, 1}}}
	four := &world{alpha: even([]float64{3, 5, 4}, 4), mu: [][]float64{{2, 2, 2, 2}, {1, 20, 3.7, 5.9}, {1, 20, 7.1, 2.7}}}
	for _, c := range []struct {
		w         *world
		available []float64
		lambda    float64
		want      [][]int
	}{
		{two, []float64{1, 1}, 1.7647, [][]int{{2}, {1, 2}}},
		{two, []float64{1, 0.1}, 1.2258, [][]int{{1, 2}, {1}}},
		{four, []float64{1, 1, 1, 1}, 2.0513, [][]int{{1}, {1, 2, 3}, {1}, {1}}},
		{four, []float64{1, 0, 1, 1}, 1.0306, [][]int{{1}, nil, {1, 3}, {1, 2}}},
	} {
		p := mustPull(t, "lpas_dg")
		tellPull(p, c.w, c.available...)
		for j, want := range c.want {
			if got := takes(p, c.w, j); !slices.Equal(got, want) {
				t.Errorf("%v: machine %d takes %v, want %v", c.available, j+1, got, want)
			}
		}
		if got := p.(Solver).Lambda(); !near(got, c.lambda, 5e-5) {
			t.Errorf("%v: lambda %g, want %g", c.available, got, c.lambda)
		}
	}
}

// A machine that goes and comes back finds what it left.
func TestLPASDGSolvesAgain(t *testing.T) {
	w := &world{alpha: even([]float64{3, 5, 4}, 4), mu: [][]float64{{2, 2, 2, 2}, {1, 20, 3.7, 5.9}, {1, 20, 7.1, 2.7}}}
	p := mustPull(t, "lpas_dg")
	tellPull(p, w, 1, 1, 1, 1)
	for range 3 {
		p.Note(Outcome{Kind: Gone, Node: nodeID(1)})
		if got := takes(p, w, 2); !slices.Equal(got, []int{1, 3}) {
			t.Errorf("without the second machine the third takes %v, want 1 3", got)
		}
		if got := takes(p, w, 1); got != nil {
			t.Errorf("the machine that is gone takes %v", got)
		}
		p.Note(w.column(1))
		if got := takes(p, w, 2); !slices.Equal(got, []int{1}) {
			t.Errorf("with it the third takes %v, want 1", got)
		}
	}
	before := p.(Solver).Solves()
	tellPull(p, w, 1, 1, 1, 1)
	takes(p, w, 0)
	if p.(Solver).Solves() != before {
		t.Error("solved again, though nothing changed")
	}
}

// The robust form may take all that the other may, and more.
func TestRobustTakesMore(t *testing.T) {
	w := system4A()
	plain, robust := mustPull(t, "lpas_dg"), mustPull(t, "lpas_dg_robust")
	ones := []float64{1, 1, 1, 1, 1, 1, 1}
	tellPull(plain, w, ones...)
	tellPull(robust, w, ones...)
	for j := range w.machines() {
		all := takes(robust, w, j)
		for _, i := range takes(plain, w, j) {
			if !slices.Contains(all, i) {
				t.Errorf("machine %d: class %d is not among %v", j+1, i, all)
			}
		}
	}
}

// Who of several is taken: the oldest, or the largest age times rate, never what cannot run there.
func TestPullOrder(t *testing.T) {
	w := &world{alpha: even([]float64{1, 1, 1}, 1), mu: [][]float64{{1}, {3}, {0}}}
	heads := []Head{{className(0), 2e9}, {className(1), 4e9}, {className(2), 0}}
	for name, want := range map[string]int{"fcfs": 1, "gcmu": 2} { // ages 4, 2, 6 s
		p := mustPull(t, name)
		tellPull(p, w, 1)
		if got, ok := p.Next(6e9, State{Node: nodeID(0)}, heads); !ok || got != className(want-1) {
			t.Errorf("%s takes %q, %v, want class %d", name, got, ok, want)
		}
		if _, ok := p.Next(6e9, State{Node: nodeID(0)}, heads[2:]); ok {
			t.Errorf("%s takes what cannot run there", name)
		}
		if _, ok := p.Next(6e9, State{Node: nodeID(0)}, nil); ok {
			t.Errorf("%s takes from nothing", name)
		}
		// A task that came at this moment, or by a clock that is behind, is taken too.
		if got, ok := p.Next(1e9, State{Node: nodeID(0)}, heads[:1]); !ok || got != className(0) {
			t.Errorf("%s leaves a task that has just come", name)
		}
	}
}

func TestPullNames(t *testing.T) {
	if got, want := PullNames(), []string{"fcfs", "gcmu", "lpas_dg", "lpas_dg_robust"}; !slices.Equal(got, want) {
		t.Errorf("pull policies %v, want %v", got, want)
	}
	for name, want := range map[string]string{"mct": "is not known: want one of fcfs, gcmu, ",
		"fcfs:1": "fcfs takes no parameter"} {
		if _, err := MakePull(name, Config{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	for name, want := range map[string]string{"guided_lpas:0": "want the constant C",
		"guided_lpas_2k:x": "want the constant C", "switching:2": "want LOW-HIGH",
		"switching:0.9-0.6": "want LOW-HIGH", "lpas:2": "lpas takes no parameter"} {
		if _, err := Make(name, &Config{}, grid.NewRand(1, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}

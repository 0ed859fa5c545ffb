package lpas

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func solveCold(t *testing.T, p *Problem) *Solution {
	t.Helper()
	var b Basis
	var ws Workspace
	sol := new(Solution)
	Vertex(p, &b, &ws, sol)
	if err := verify(p, sol, 1e-9); err != nil {
		t.Error(err)
	}
	return sol
}

func TestOneMachine(t *testing.T) {
	// Both classes share it by the time that they need: lambda·(3/6 + 1/4) = 1.
	sol := solveCold(t, &Problem{[]float64{3, 1}, []float64{1}, []float64{6, 4}})
	if want := 4.0 / 3; math.Abs(sol.Lambda-want) > 1e-12 || math.Abs(part(sol, 0, 0)-2.0/3) > 1e-12 {
		t.Errorf("lambda %v, shares %v", sol.Lambda, sol.Delta)
	}
}

func TestOneClass(t *testing.T) {
	// Every machine that can run it does, in full.
	sol := solveCold(t, &Problem{[]float64{2}, []float64{1, 0.5, 1, 3}, []float64{5, 4, 0, 1}})
	if want := 5.0; sol.Lambda != want || len(sol.Delta) != 3 {
		t.Errorf("lambda %v, shares %v", sol.Lambda, sol.Delta)
	}
}

func TestNoArrivals(t *testing.T) {
	for _, p := range []*Problem{
		{},
		{Cap: []float64{1}},
		{[]float64{0, 0}, []float64{1}, []float64{1, 2}},
	} {
		sol := solveCold(t, p)
		if sol.Status != NoDemand || !math.IsInf(sol.Lambda, 1) || len(sol.Delta) != 0 || len(sol.Price) != len(p.Alpha) {
			t.Errorf("%v: %+v", p, sol)
		}
	}
	// One of them has none: its row is vacuous, the other has everything.
	sol := solveCold(t, &Problem{[]float64{0, 2}, []float64{1, 1}, []float64{9, 9, 3, 1}})
	if sol.Lambda != 2 || len(sol.Delta) != 2 || sol.Price[0] != 0 {
		t.Errorf("%+v", sol)
	}
}

func TestNobodyCanRunIt(t *testing.T) {
	// Class 1 runs nowhere, class 2 only on a machine that is down. Left in they would make lambda 0.
	p := &Problem{[]float64{1, 1, 1}, []float64{1, 0, 2}, []float64{4, 4, 1, 0, 0, 0, 0, 7, 0}}
	sol := solveCold(t, p)
	if sol.Lambda != 6 || !reflect.DeepEqual(sol.Unrunnable, []int32{1, 2}) {
		t.Errorf("%+v", sol)
	}
	p.Cap[1] = 1 // the machine returns, and with it class 2
	sol = solveCold(t, p)
	if !reflect.DeepEqual(sol.Unrunnable, []int32{1}) || part(sol, 2, 1) == 0 {
		t.Errorf("%+v", sol)
	}
	for _, p := range []*Problem{
		{Alpha: []float64{1}},
		{[]float64{1}, []float64{0}, []float64{3}},
		{[]float64{1, 1}, []float64{1, 1}, make([]float64, 4)},
	} {
		sol := solveCold(t, p)
		if sol.Status != NoMachine || sol.Lambda != 0 || len(sol.Delta) != 0 || len(sol.Unrunnable) != len(p.Alpha) {
			t.Errorf("%v: %+v", p, sol)
		}
	}
}

func TestOverload(t *testing.T) {
	// Twice what the machines can do: the shares stay in proportion.
	sol := solveCold(t, &Problem{[]float64{20, 20}, []float64{1, 1}, []float64{10, 1, 1, 10}})
	if sol.Lambda != 0.5 || part(sol, 0, 0) != 1 || part(sol, 1, 1) != 1 {
		t.Errorf("%+v", sol)
	}
}

// Rates of 1e-5 as in [1, Systems 3.G and 4.B], and far worse: the optimum only depends on the units
// of a class (alpha and mu together) by nothing, and on those of a machine by its capacity.
func TestScale(t *testing.T) {
	want := solveCold(t, uniform(7, 6, 20))
	for _, unit := range []float64{1e-5, 1e-12, 1e9, 1e30} {
		p := uniform(7, 6, 20)
		for i := range p.Alpha {
			f := math.Pow(unit, float64(i%2))
			p.Alpha[i] *= f
			for j := range p.Cap {
				p.Mu[i*20+j] *= f
			}
		}
		for j := range p.Cap {
			if j%3 == 0 {
				p.Cap[j] /= unit
				for i := range p.Alpha {
					p.Mu[i*20+j] *= unit
				}
			}
		}
		got := solveCold(t, p)
		if math.Abs(got.Lambda/want.Lambda-1) > 1e-12 {
			t.Errorf("units ×%g: lambda %v, want %v", unit, got.Lambda, want.Lambda)
		}
	}
}

// Classes that are no bottleneck share what is left for a largest lambda of their own, and so on: no
// class with arrivals and a machine goes without, and no machine that one of them can run is idle.
func TestLevels(t *testing.T) {
	var ws Workspace
	var sol Solution
	eachSeed(t, 5000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		n, m := len(p.Alpha), len(p.Cap)
		var b Basis
		Vertex(p, &b, &ws, &sol)
		supply := make([]float64, n)
		for _, d := range sol.Delta {
			supply[d.Class] += d.Part * p.Mu[int(d.Class)*m+int(d.Machine)]
		}
		for sol.Status == Optimal {
			// Take the bottleneck and its machines away.
			for j := range m {
				for i, y := range sol.Price {
					if y*p.Mu[i*m+j] > 0 {
						p.Cap[j] = 0
					}
				}
			}
			lambda := math.Inf(1)
			for i, y := range sol.Price {
				if y > 0 {
					p.Alpha[i] = 0
				} else if p.Alpha[i] > 0 && supply[i] > 0 {
					lambda = min(lambda, supply[i]/p.Alpha[i])
				}
			}
			var b Basis
			last := sol.Lambda
			Vertex(p, &b, &ws, &sol)
			if sol.Status != Optimal {
				break
			}
			if math.Abs(sol.Lambda-lambda) > 1e-8*lambda || lambda < last*(1-1e-8) {
				t.Errorf("seed %d: the rest could have lambda %v and has %v", seed, sol.Lambda, lambda)
			}
		}
		return nil
	})
}

func TestPivotCap(t *testing.T) {
	var ws Workspace
	var sol Solution
	eachSeed(t, 3000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		var b Basis
		ws.MaxPivots = 0
		Vertex(p, &b, &ws, &sol)
		want, status := sol.Lambda, sol.Status
		b.Reset()
		ws.MaxPivots = 1
		for range 200 {
			Vertex(p, &b, &ws, &sol)
			if err := verify(p, &sol, tolerance); err != nil {
				return err
			}
			if sol.Pivots > 1 {
				t.Errorf("seed %d: %d pivots", seed, sol.Pivots)
			}
			if sol.Status != PivotCap {
				break
			}
			if sol.Lambda > want*(1+1e-9) || sol.Bound < want*(1-1e-9) {
				t.Errorf("seed %d: optimum %v, at the cap %v to %v", seed, want, sol.Lambda, sol.Bound)
			}
		}
		if sol.Status != status || status == Optimal && math.Abs(sol.Lambda-want) > 1e-9*want {
			t.Errorf("seed %d: one pivot at a time ends with %v, %v; want %v", seed, sol.Status, sol.Lambda, want)
		}
		return nil
	})
}

func TestCheck(t *testing.T) {
	good := func() *Problem { return uniform(1, 2, 3) }
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(p *Problem){
		"Mu has 5 entries; 2 classes (len Alpha) on 3 machines (len Cap) need 6": func(p *Problem) { p.Mu = p.Mu[:5] },
		"Alpha[1] is -1":                          func(p *Problem) { p.Alpha[1] = -1 },
		"Alpha[0] is NaN":                         func(p *Problem) { p.Alpha[0] = math.NaN() },
		"Cap[2] is +Inf; a capacity is 0 or":      func(p *Problem) { p.Cap[2] = math.Inf(1) },
		"Mu[4] (class 1 on machine 1) is -0.5":    func(p *Problem) { p.Mu[4] = -0.5 },
		"Mu[3] (class 1 on machine 0) is 1e-70":   func(p *Problem) { p.Mu[3] = 1e-70 },
		"0 or between 1e-60 and 1e+60 tasks per ": func(p *Problem) { p.Mu[0] = 1e70 },
	} {
		p := good()
		spoil(p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// Reset makes the next solve a cold start. The memory is kept.
func (b *Basis) Reset() {
	b.price, b.level, b.owner, b.edges = b.price[:0], b.level[:0], b.owner[:0], b.edges[:0]
}

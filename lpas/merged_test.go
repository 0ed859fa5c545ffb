package lpas

import (
	"fmt"
	"math"
	"testing"
)

// verifyMerged checks feasibility, the objective, and that identical machines give identical parts.
func verifyMerged(p *Problem, sol *Solution, lambda float64) error {
	m := len(p.Cap)
	used := make([]float64, m)
	parts := map[Share]float64{}
	for _, d := range sol.Delta {
		used[d.Machine] += d.Part
		parts[Share{d.Class, d.Machine, 0}] = d.Part
	}
	for j, c := range p.Cap {
		if used[j] > c*(1+1e-12) {
			return fmt.Errorf("machine %d gives %v of %v", j, used[j], c)
		}
	}
	if math.Abs(sol.Lambda-lambda) > 1e-8*lambda {
		return fmt.Errorf("lambda %v, of the whole problem %v", sol.Lambda, lambda)
	}
	for j := range m {
		for k := range j {
			alike := p.Cap[j] == p.Cap[k]
			for i := range p.Alpha {
				alike = alike && p.Mu[i*m+j] == p.Mu[i*m+k]
			}
			for i := range p.Alpha {
				a, b := parts[Share{int32(i), int32(j), 0}], parts[Share{int32(i), int32(k), 0}]
				if alike && math.Abs(a-b) > 1e-12*p.Cap[j] {
					return fmt.Errorf("class %d has %v of machine %d and %v of its twin %d", i, a, j, b, k)
				}
			}
		}
	}
	return nil
}

func TestMerged(t *testing.T) {
	var ws Workspace
	var sol Solution
	eachSeed(t, 5000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		if seed%3 == 0 {
			p = tied(seed, 1+int(seed%7), 10+int(seed%20))
		}
		Vertex(p, new(Basis), &ws, &sol)
		lambda, status := sol.Lambda, sol.Status
		Merged(p, new(Basis), &ws, &sol)
		if sol.Status != status {
			return fmt.Errorf("%v, Vertex %v", sol.Status, status)
		}
		if status != Optimal {
			return nil
		}
		return verifyMerged(p, &sol, lambda)
	})
}

// Machines that differ by less than the rounding are one group; those that differ by more are not.
func TestMergedRounding(t *testing.T) {
	var ws Workspace
	var sol Solution
	p := &Problem{[]float64{1, 1}, []float64{1, 1, 1}, []float64{2, 2 * (1 + 1e-11), 2.00001, 1, 1, 1}}
	Merged(p, new(Basis), &ws, &sol)
	if n := len(ws.groups.like); n != 2 {
		t.Errorf("%d groups, want 2", n)
	}
	if err := verifyMerged(p, &sol, sol.Lambda); err != nil {
		t.Error(err)
	}
}

// MaxSupport has all that Vertex uses, on the machines and for the classes that complementary
// slackness allows, and the support of the even optimum as well.
func TestMaxSupport(t *testing.T) {
	var ws Workspace
	var sol, even Solution
	eachSeed(t, 5000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		Vertex(p, new(Basis), &ws, &even)
		want := even.Delta
		MaxSupport(p, new(Basis), &ws, &sol)
		in := map[Share]bool{}
		kept := sol.Delta[:0:0]
		for k, d := range sol.Delta {
			if k > 0 && (d.Machine < sol.Delta[k-1].Machine || d.Machine == sol.Delta[k-1].Machine &&
				d.Class <= sol.Delta[k-1].Class) {
				return fmt.Errorf("%v after %v", d, sol.Delta[k-1])
			}
			if p.Cap[d.Machine] == 0 || p.Mu[int(d.Class)*len(p.Cap)+int(d.Machine)] == 0 {
				return fmt.Errorf("%v is of no use", d)
			}
			in[Share{d.Class, d.Machine, 0}] = true
			if d.Part > 0 {
				kept = append(kept, d)
			}
		}
		if fmt.Sprint(kept) != fmt.Sprint(want) {
			return fmt.Errorf("shares %v, Vertex has %v", kept, want)
		}
		if sol.Status != Optimal {
			return nil
		}
		Merged(p, new(Basis), &ws, &even)
		for i, y := range sol.Price {
			if (y > 0) != (even.Price[i] > 0) {
				return nil // several prices are optimal
			}
		}
		for _, d := range even.Delta {
			if d.Part > 1e-7 && sol.Price[d.Class] > 0 && !in[Share{d.Class, d.Machine, 0}] {
				return fmt.Errorf("Merged uses %v", d)
			}
		}
		return nil
	})
}

// With identical machines everything ties: each class can use every machine that it is best on.
func TestMaxSupportOfTwins(t *testing.T) {
	var ws Workspace
	var sol Solution
	p := &Problem{[]float64{1, 1}, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1, 1, 1, 1, 1}}
	MaxSupport(p, new(Basis), &ws, &sol)
	if len(sol.Delta) != 8 || sol.Lambda != 2 {
		t.Errorf("%+v", sol)
	}
}

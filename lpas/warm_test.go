package lpas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// change makes a problem of another one: a few rates, all rates a little, a machine or a class that
// comes or goes, at the end or in the middle, arrivals that stop.
func change(r *rand.Rand, p *Problem) *Problem {
	n, m := len(p.Alpha), len(p.Cap)
	q := &Problem{slices.Clone(p.Alpha), slices.Clone(p.Cap), slices.Clone(p.Mu)}
	column := func(j int, insert bool) {
		q.Mu = q.Mu[:0]
		for i := range n {
			row := slices.Clone(p.Mu[i*m:][:m])
			if insert {
				row = slices.Insert(row, j, 3*r.Float64())
			} else {
				row = slices.Delete(row, j, j+1)
			}
			q.Mu = append(q.Mu, row...)
		}
	}
	switch j, i := r.IntN(m), r.IntN(n); r.IntN(9) {
	case 0, 1:
		q.Mu[r.IntN(len(q.Mu))] = 10 * r.Float64()
	case 2:
		for k := range q.Mu {
			q.Mu[k] *= 0.95 + 0.1*r.Float64()
		}
	case 3:
		if r.IntN(2) == 0 {
			j = m
		}
		q.Cap = slices.Insert(q.Cap, j, 1)
		column(j, true)
	case 4:
		if m > 1 {
			q.Cap = slices.Delete(q.Cap, j, j+1)
			column(j, false)
		}
	case 5:
		q.Cap[j] = float64(r.IntN(2))
	case 6:
		if r.IntN(2) == 0 {
			i = n
		}
		q.Alpha = slices.Insert(q.Alpha, i, 0.5+r.Float64())
		row := make([]float64, m)
		for k := range row {
			row[k] = 10 * r.Float64()
		}
		q.Mu = slices.Insert(q.Mu, i*m, row...)
	case 7:
		if n > 1 {
			q.Alpha = slices.Delete(q.Alpha, i, i+1)
			q.Mu = slices.Delete(q.Mu, i*m, i*m+m)
		}
	case 8:
		q.Alpha[i] = float64(r.IntN(3))
	}
	return q
}

// From the basis of the problem before the optimum is that of a cold start.
func TestWarm(t *testing.T) {
	var ws Workspace
	var sol Solution
	warm, cold := 0, 0
	eachSeed(t, 3000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		r := rand.New(rand.NewPCG(seed, 3))
		var b Basis
		for range 8 {
			Vertex(p, &b, &ws, &sol)
			if err := verify(p, &sol, tolerance); err != nil {
				return err
			}
			lambda, status := sol.Lambda, sol.Status
			warm += sol.Pivots
			Vertex(p, new(Basis), &ws, &sol)
			cold += sol.Pivots
			if status != sol.Status || math.Abs(lambda-sol.Lambda) > 1e-9*sol.Lambda {
				return fmt.Errorf("warm %v %v, cold %v %v", status, lambda, sol.Status, sol.Lambda)
			}
			p = change(r, p)
		}
		return nil
	})
	t.Logf("%d pivots warm, %d cold", warm, cold)
	if *seedFlag < 0 && warm > cold*2/3 {
		t.Errorf("%d pivots from the last basis, %d from nothing", warm, cold)
	}
}

// A basis full of nonsense costs time and nothing else.
func TestWrongBasis(t *testing.T) {
	var ws Workspace
	var sol Solution
	eachSeed(t, 5000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		r := rand.New(rand.NewPCG(seed, 4))
		odd := func() int32 { return int32(r.IntN(40) - 5) }
		var b Basis
		for range r.IntN(15) {
			b.price = append(b.price, [8]float64{0, 1, -1, math.NaN(), math.Inf(1), 1e-200, r.Float64(), 1e200}[r.IntN(8)])
			b.level = append(b.level, odd())
		}
		for range r.IntN(40) {
			b.owner = append(b.owner, odd())
			b.edges = append(b.edges, edge{odd(), odd()})
		}
		Vertex(p, &b, &ws, &sol)
		return verify(p, &sol, tolerance)
	})
}

// The same problem and basis give the same bits, whatever the workspace was used for before.
func TestDeterministic(t *testing.T) {
	var used Workspace
	var first, second Solution
	eachSeed(t, 2000, func(t *testing.T, seed uint64) error {
		p := draw(seed)
		for name, solve := range solvers {
			var b1, b2 Basis
			solve(p, &b1, &used, &first)
			solve(p, &b2, new(Workspace), &second)
			if !same(&first, &second) || !reflect.DeepEqual(b1.edges, b2.edges) || !slices.Equal(b1.owner, b2.owner) {
				return fmt.Errorf("%s: %+v and %+v", name, first, second)
			}
		}
		return nil
	})
}

func same(a, b *Solution) bool {
	return a.Status == b.Status && a.Lambda == b.Lambda && a.Bound == b.Bound && a.Pivots == b.Pivots &&
		slices.Equal(a.Delta, b.Delta) && slices.Equal(a.Price, b.Price) && slices.Equal(a.Unrunnable, b.Unrunnable)
}

// A repeated solve allocates nothing, warm or cold, also when the sizes vary within those seen.
func TestAllocations(t *testing.T) {
	for name, solve := range solvers {
		var ws Workspace
		var sol Solution
		var b Basis
		large, small, even := uniform(1, 12, 200), draw(3), tied(1, 8, 60)
		run := func() {
			b.Reset()
			solve(large, &b, &ws, &sol)
			large.Mu[17] = 11 - large.Mu[17]
			solve(large, &b, &ws, &sol)
			solve(even, &b, &ws, &sol)
			solve(small, &b, &ws, &sol)
		}
		run()
		run()
		if n := testing.AllocsPerRun(20, run); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func FuzzVertex(f *testing.F) {
	f.Add(uint8(3), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 200, 250, 255, 0, 128})
	f.Add(uint8(1), []byte{})
	f.Add(uint8(20), []byte{255, 254, 253, 252, 251, 0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, shape uint8, data []byte) {
		p := empty(1+int(shape%5), 1+int(shape/5)%7)
		wild := false
		next := func() float64 {
			if len(data) == 0 {
				return 1
			}
			x := data[0]
			data = data[1:]
			switch {
			case x >= 250:
				wild = true
				return [6]float64{math.NaN(), math.Inf(1), -1, 1e60, 1e-60, 1e-300}[x-250]
			case x >= 200:
				return math.Pow(10, (float64(x)-225)/6)
			default:
				return float64(x % 16)
			}
		}
		for _, s := range [][]float64{p.Alpha, p.Cap, p.Mu} {
			for k := range s {
				s[k] = next()
			}
		}
		var ws Workspace
		var sol Solution
		for name, solve := range solvers {
			var b Basis
			solve(p, &b, &ws, &sol) // must end whatever it is given
			if p.Check() == nil && !wild && name == "Vertex" {
				if err := verify(p, &sol, 1e-7); err != nil {
					t.Fatalf("%+v: %v", p, err)
				}
			}
		}
	})
}

package mapper

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/optimize/convex/lp"

	"skep/gang"
)

// costs is a model of given costs.
type costs struct {
	units int
	of    []gang.Cost
}

func (c costs) Units() int { return c.units }

func (c costs) Costs(_ *gang.Group, dst []gang.Cost) []gang.Cost { return append(dst, c.of...) }

func (c costs) Predict(s *gang.Schedule) (t float64) {
	for k, n := range s.Shares {
		t = max(t, c.of[k].Fixed+c.of[k].PerUnit*n)
	}
	return t
}

func anyCosts(r *rand.Rand) costs {
	c := costs{units: 50 + r.IntN(5000)}
	for range 1 + r.IntN(8) {
		most := float64(c.units)
		if r.IntN(2) == 0 {
			most *= r.Float64()
		}
		fixed := float64(c.units) * 0.2 * r.Float64() * float64(r.IntN(3))
		c.of = append(c.of, gang.Cost{PerUnit: 0.1 + r.Float64(), Fixed: fixed, Most: most})
	}
	return c
}

func (c costs) under(t *testing.T, mapper string) (s gang.Schedule, err error) {
	t.Helper()
	m, err := New(mapper)
	if err != nil {
		t.Fatal(err)
	}
	err = m.Map(&gang.Group{Places: make([]int, len(c.of))}, c, &s)
	return s, err
}

// least is the optimum of minimise T under T ≥ m_i + c_i·n_i, n_i ≤ cap_i, Σ n_i = N, by the simplex method. Variables
// are T, the n_i and the slacks of both kinds of rows.
func (c costs) least(t *testing.T) float64 {
	t.Helper()
	p := len(c.of)
	rows, columns := 2*p+1, 3*p+1
	a, b, cost := make([]float64, rows*columns), make([]float64, rows), make([]float64, columns)
	cost[0] = 1
	for k, x := range c.of {
		set := func(row, column int, v float64) { a[row*columns+column] = v }
		set(k, 0, 1)
		set(k, 1+k, -x.PerUnit)
		set(k, 1+p+k, -1)
		b[k] = x.Fixed
		set(p+k, 1+k, 1)
		set(p+k, 1+2*p+k, 1)
		b[p+k] = x.Most
		set(2*p, 1+k, 1)
	}
	b[2*p] = float64(c.units)
	f, _, err := lp.Simplex(cost, dense{rows, columns, a}, b, 1e-10, nil)
	if err != nil {
		return math.Inf(1)
	}
	return f
}

// min_max is optimal, by a simplex solver; time_balance never beats it, has the same times where it is not relaxed,
// keeps |T_i − T_0| ≤ R·T_0, and fails for the same work, or where the first rank has too little memory.
func TestAgainstLinearProgrammes(t *testing.T) {
	for seed := range uint64(600) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := anyCosts(rand.New(rand.NewPCG(seed, 4)))
			best, errBest := c.under(t, "min_max")
			balanced, errBalanced := c.under(t, "time_balance")
			want := c.least(t)
			if (errBest != nil) != math.IsInf(want, 1) {
				t.Fatalf("%+v: %v; the linear programme says %g", c, errBest, want)
			}
			if errBest != nil {
				if errBalanced == nil {
					t.Errorf("%+v: time balance has %+v", c, balanced)
				}
				return
			}
			fixed := 0.0 // a rank without units takes as long as its messages
			for _, x := range c.of {
				fixed = max(fixed, x.Fixed)
			}
			if got := c.Predict(&best); math.Abs(got-max(want, fixed)) > 1e-7*want {
				t.Errorf("%+v: %g; the linear programme says %g", c, got, want)
			}
			checkShares(t, c, best)
			if x := c.of[0]; errors.Is(errBalanced, ErrUneven) && c.Predict(&best) > 11*(x.Fixed+x.PerUnit*x.Most) {
				return
			}
			if errBalanced != nil {
				t.Fatalf("%+v: time balance: %v", c, errBalanced)
			}
			checkShares(t, c, balanced)
			t0 := c.of[0].Fixed + c.of[0].PerUnit*balanced.Shares[0]
			for k, n := range balanced.Shares {
				if d := c.of[k].Fixed + c.of[k].PerUnit*n - t0; math.Abs(d) > balanced.Relaxation*t0+1e-6*t0 {
					t.Errorf("%+v: R %g, and rank %d differs by %g of %g", c, balanced.Relaxation, k, d, t0)
				}
			}
			if a, b := c.Predict(&balanced), c.Predict(&best); a < b*(1-1e-9) || balanced.Relaxation == 0 && a > b*(1+1e-9) {
				t.Errorf("%+v: time balance takes %g with R %g, min-max %g", c, a, balanced.Relaxation, b)
			}
		})
	}
}

func checkShares(t *testing.T, c costs, s gang.Schedule) {
	t.Helper()
	sum := 0.0
	for k, n := range s.Shares {
		sum += n
		if n < 0 || n > c.of[k].Most*(1+1e-9) {
			t.Errorf("%+v: share %g of %g", c, n, c.of[k].Most)
		}
	}
	if math.Abs(sum-float64(c.units)) > 1e-6*sum {
		t.Errorf("%+v: %g of %d units are shared", c, sum, c.units)
	}
}

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		shares, most []float64
		want         []int
	}{
		{[]float64{1027.356, 978.467, 473.222, 473.222, 800.564, 747.168}, nil, []int{1027, 979, 473, 473, 801, 747}},
		{[]float64{2.5, 2.5}, nil, []int{3, 2}},
		{[]float64{2.5, 2.5}, []float64{2.5, 4}, []int{2, 3}},
		{[]float64{2.5, 2.5}, []float64{2.5, 2.5}, []int{3, 2}},
		{[]float64{4.9, 0.1}, nil, []int{4, 1}},
		{[]float64{3, 0, 0}, nil, []int{1, 1, 1}},
		{[]float64{1, 0, 0}, nil, []int{1, 0, 0}},
		{[]float64{2.9999999999, 3.0000000001}, nil, []int{3, 3}},
	} {
		s := gang.Schedule{Shares: c.shares, Costs: make([]gang.Cost, len(c.shares))}
		for k := range s.Costs {
			s.Costs[k].Most = math.Inf(1)
			if c.most != nil {
				s.Costs[k].Most = c.most[k]
			}
		}
		if got := Whole(&s); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v; want %v", c.shares, got, c.want)
		}
	}
}

func TestEqual(t *testing.T) {
	c := costs{units: 11, of: []gang.Cost{{PerUnit: 1, Most: 4}, {PerUnit: 1, Most: 4}, {PerUnit: 1, Most: 3}}}
	if s, err := c.under(t, "equal"); err != nil || !slices.Equal(s.Shares, []float64{4, 4, 3}) {
		t.Errorf("%v, %v; want 4, 4, 3", s.Shares, err)
	}
	c.of[1].Most = 3.5
	_, err := c.under(t, "equal")
	if err == nil || err.Error() != "11 units: the memory of 3 ranks holds 10" {
		t.Errorf("got %v", err)
	}
	c.of[0].Most = 9
	_, err = c.under(t, "equal")
	if err == nil || err.Error() != "3 ranks of 4 units each: the smallest memory holds 3" {
		t.Errorf("got %v", err)
	}
}

func TestUnknownMapper(t *testing.T) {
	_, err := New("simplex")
	if err == nil || err.Error() != `mapper "simplex": is not known: want one of equal, min_max, time_balance` {
		t.Errorf("got %v", err)
	}
	if !slices.Contains(Names(), Default) || !slices.IsSorted(Names()) {
		t.Errorf("%s is not one of %s, or these are not sorted", Default, strings.Join(Names(), ", "))
	}
}

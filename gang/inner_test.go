package gang

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// links are delays by pairs, in ms; what is not named is 50 ms.
func links(n int, ms map[[2]int]float64) *Pool {
	return NewPool(make([]Machine, n), func(a, b int) Link {
		l := Link{Latency: 0.05, Bandwidth: 1e6}
		if d, is := ms[[2]int{min(a, b), max(a, b)}]; is {
			l.Latency = d / 1e3
		}
		return l
	})
}

func TestSites(t *testing.T) {
	for _, c := range []struct {
		what string
		p    *Pool
		want []int
	}{
		{"no links", links(3, nil), []int{0, 1, 2}},
		{"two pairs", links(4, map[[2]int]float64{{0, 2}: 1, {1, 3}: 1}), []int{0, 1, 0, 1}},
		{"a chain", links(4, map[[2]int]float64{{0, 1}: 2, {1, 3}: 2, {0, 3}: 4}), []int{0, 0, 1, 0}},
		{"just within", links(2, map[[2]int]float64{{0, 1}: 2.5}), []int{0, 0}},
		{"just beyond", links(2, map[[2]int]float64{{0, 1}: 2.51}), []int{0, 1}},
	} {
		if got, n := Sites(c.p, DefaultSiteDelay); !slices.Equal(got, c.want) || n != slices.Max(c.want)+1 {
			t.Errorf("%s: %v of %d sites; want %v", c.what, got, n, c.want)
		}
	}
	one := NewPool(make([]Machine, 2), func(a, b int) Link { return Link{Latency: float64(a) * 0.004, Bandwidth: 1} })
	if got, _ := Sites(one, DefaultSiteDelay); !slices.Equal(got, []int{0, 0}) {
		t.Errorf("0 and 4 ms: %v; want one site, the mean being 2", got)
	}
}

// "If the collection holds two fast and two slow machines, the three best by computation are both fast ones and the
// faster of the slow ones" [1, section III.B.2].
func TestBestByFocus(t *testing.T) {
	p := NewPool([]Machine{{Speed: 1, Memory: 9}, {Speed: 5, Memory: 1}, {Speed: 2, Memory: 5}, {Speed: 5, Memory: 4}},
		func(int, int) Link { return Link{Bandwidth: 1} })
	x := newPlaces(p, []int{0, 0, 0, 0}, 1)
	for f, want := range map[focus][]int{byComputation: {1, 3, 2, 0}, byMemory: {0, 2, 3, 1}, byBoth: {3, 0, 1, 2}} {
		if got := x.order([]bool{true}, f, nil); !slices.Equal(got, want) {
			t.Errorf("focus %d: %v; want %v", f, got, want)
		}
	}
}

// The slowest of a site are next to the other sites.
func TestLogicalOrder(t *testing.T) {
	p := NewPool([]Machine{{Speed: 1}, {Speed: 2}, {Speed: 3}, {Speed: 4}, {Speed: 6}, {Speed: 5}, {Speed: 7}, {Speed: 9},
		{Speed: 8}}, func(int, int) Link { return Link{Bandwidth: 1} })
	a := newArranger(p, newPlaces(p, []int{0, 0, 0, 1, 1, 1, 1, 2, 2}, 3))
	for _, c := range []struct{ set, want []int }{
		{[]int{0, 1, 2}, []int{2, 1, 0}},
		{[]int{8, 2, 0, 7, 1}, []int{2, 1, 0, 8, 7}},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7, 8}, []int{2, 1, 0, 3, 4, 6, 5, 8, 7}},
		{[]int{6, 0, 8}, []int{0, 6, 8}},
	} {
		if got := a.lay(c.set).Places; !slices.Equal(got, c.want) {
			t.Errorf("%v: %v; want %v", c.set, got, c.want)
		}
	}
}

// halves divides work among ranks by speed, and each rank costs 10 ms.
type halves struct{ units int }

func (h halves) Units() int { return h.units }

func (h halves) Costs(g *Group, dst []Cost) []Cost { return dst }

func (h halves) Predict(s *Schedule) float64 { return s.Relaxation }

func (h halves) Map(g *Group, m Model, s *Schedule) error {
	speed := 0.0
	s.Places, s.Shares = append(s.Places[:0], g.Places...), s.Shares[:0]
	for _, p := range g.Places {
		speed += g.Pool.Machines[p].Speed
	}
	for _, p := range g.Places {
		s.Shares = append(s.Shares, float64(h.units)*g.Pool.Machines[p].Speed/speed)
	}
	s.Relaxation = float64(h.units)/speed + 0.01*float64(len(g.Places))
	return nil
}

// Each distinct group is counted once: a plain set of them agrees. Machines and sites are drawn.
func TestDistinctGroups(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			n, sites := 1+r.IntN(14), 1+r.IntN(5)
			machines := make([]Machine, n)
			for k := range machines {
				machines[k] = Machine{Speed: float64(1 + r.IntN(9)), Memory: float64(1 + r.IntN(9)), Slots: r.IntN(3)}
			}
			p := NewPool(machines, func(a, b int) Link {
				return Link{Latency: 0.02 * float64(min((a-b)%sites*((a-b)%sites), 1)), Bandwidth: 1e6}
			})
			policy := Policy{Ranks: Range{Min: 1 + r.IntN(2), Max: r.IntN(2) * 6}}
			h := halves{100}
			_, e, err := Search(p, COP{Model: h, Mapper: h}, policy)
			if err != nil {
				return // fewer places than ranks
			}
			if want := plainly(p, policy, &e); want != e.Distinct {
				t.Errorf("%d distinct groups of %d; want %d", e.Distinct, e.Groups, want)
			}
		})
	}
}

// plainly lists all groups.
func plainly(p *Pool, policy Policy, e *Examined) int {
	site, sites := Sites(p, DefaultSiteDelay)
	x := newPlaces(p, site, sites)
	found := map[string]bool{}
	for mask := 1; mask < 1<<sites; mask++ {
		in := make([]bool, sites)
		for s := range in {
			in[s] = mask>>s&1 == 1
		}
		for f := range foci {
			order := x.order(in, f, nil)
			for k := policy.Ranks.Min; k <= len(order) && (policy.Ranks.Max == 0 || k <= policy.Ranks.Max); k++ {
				found[fmt.Sprint(slices.Sorted(slices.Values(order[:k])))] = true
			}
		}
	}
	return len(found)
}

// Of sites with one machine each the unions are few, and a machine that helps is added.
func TestManySites(t *testing.T) {
	const n = 60
	machines := make([]Machine, n)
	for k := range machines {
		machines[k] = Machine{Speed: float64(1 + k%7)}
	}
	p := NewPool(machines, func(int, int) Link { return Link{Latency: 0.02, Bandwidth: 1e6} })
	h := halves{1000}
	s, e, err := Search(p, COP{Model: h, Mapper: h}, Policy{})
	if err != nil || e.Sites != n || e.Unions > 1<<MaxSites+n {
		t.Fatalf("%+v, %v: want 60 sites and no more than 315 unions", e, err)
	}
	best := 1e9
	x := newPlaces(p, make([]int, n), 1)
	speed := 0.0
	for k, m := range x.sorted[byComputation] {
		speed += machines[m].Speed
		best = min(best, 1000/speed+0.01*float64(k+1))
	}
	if s.Time > best*1.001 {
		t.Errorf("%g s with %d machines; the fastest ones take %g", s.Time, len(s.Places), best)
	}
}

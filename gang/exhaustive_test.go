package gang_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"skep/gang"
)

var instances = flag.Int("gang.instances", 60, "pools of 12 machines, each searched exhaustively for both applications")

// twelve has four machines in each of three sites; speeds, memory and links are drawn.
func twelve(r *rand.Rand) *gang.Pool {
	var all []gang.Machine
	for range 12 {
		all = append(all, gang.Machine{Speed: (266 + 300*r.Float64()) * 1e6, Memory: (64 + 450*r.Float64()) * (1 << 20)})
	}
	var wan [3][3]float64
	for a := range wan {
		for b := range wan {
			wan[a][b] = (1 + 19*r.Float64()) * 1e6 / 8
		}
	}
	return gang.NewPool(all, func(a, b int) gang.Link {
		if a/4 == b/4 {
			return gang.Link{Latency: 0.0005, Bandwidth: 80e6 / 8}
		}
		return gang.Link{Latency: 0.03, Bandwidth: wan[a/4][b/4]}
	})
}

// What the search finds, over the best of all 4095 groups of twelve machines. In every fifth of the pools memory is
// short. The figures of the 1,200 pools of -gang.instances 400, for each of three sizes, are printed with -v.
func TestBesideExhaustiveSearch(t *testing.T) {
	for _, c := range []struct {
		app   string
		mean  float64 // most that the search may be above the best
		worst float64
	}{{"life", 1.001, 1.02}, {"jacobi", 1.005, 1.10}} {
		worst, sum, same, n := 1.0, 0.0, 0, 0
		for seed := range *instances {
			r := rand.New(rand.NewPCG(uint64(seed), 6))
			p := twelve(r)
			told := mesh([]float64{600, 4800, 9600}[seed%3])
			if seed%5 == 4 {
				told["point_memory"] = 24
			}
			x := cop(t, c.app, "min_max", told)
			s, _, err := gang.Search(p, x, gang.Policy{})
			best, lay := math.Inf(1), gang.Lay(p)
			for set := 1; set < 1<<12; set++ {
				var on []int
				for m := range 12 {
					if set>>m&1 == 1 {
						on = append(on, m)
					}
				}
				var g gang.Schedule
				if x.Mapper.Map(lay(on), x.Model, &g) == nil {
					best = min(best, x.Model.Predict(&g))
				}
			}
			if (err != nil) != math.IsInf(best, 1) {
				t.Fatalf("%s, %d: %v; the best group takes %g s", c.app, seed, err, best)
			}
			if err != nil {
				continue
			}
			over := s.Time / best
			if n++; over < 1-1e-9 {
				t.Errorf("%s, %d: %g s is better than the best, %g", c.app, seed, s.Time, best)
			}
			if worst = max(worst, over); over < 1+1e-9 {
				same++
			}
			sum += over
		}
		mean := sum / float64(n)
		t.Logf("%s: the best group in %d of %d pools; mean %.4f, worst %.4f of its time", c.app, same, n, mean, worst)
		if mean > c.mean || worst > c.worst {
			t.Errorf("%s: mean %.4f, worst %.4f of the best time; want %g, %g", c.app, mean, worst, c.mean, c.worst)
		}
	}
}

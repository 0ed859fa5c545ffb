package gang_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"skep/gang"
	"skep/gang/mapper"
	"skep/gang/model"
)

// cluster is so many equal machines of one site.
type cluster struct {
	count int
	mhz   float64
	mb    float64
	site  int
}

// The testbed of [1, Table V.1].
var (
	circus = []cluster{{1, 450, 256, 0}, {4, 400, 256, 0}, {1, 450, 256, 0}}
	torc   = []cluster{{8, 550, 512, 1}}
	opus   = []cluster{{4, 450, 256, 2}}
	major  = []cluster{{6, 266, 128, 2}}
)

// pool has links of 0.5 ms and 100 Mbit/s in a site, and of 30 ms and wan Mbit/s between sites.
func pool(wan float64, clusters ...[]cluster) *gang.Pool {
	var all []gang.Machine
	var site []int
	for _, c := range clusters {
		for _, k := range c {
			for range k.count {
				all = append(all, gang.Machine{Speed: k.mhz * 1e6, Memory: k.mb * (1 << 20)})
				site = append(site, k.site)
			}
		}
	}
	return gang.NewPool(all, func(a, b int) gang.Link {
		if site[a] == site[b] {
			return gang.Link{Latency: 0.0005, Bandwidth: 100e6 / 8}
		}
		return gang.Link{Latency: 0.03, Bandwidth: wan * 1e6 / 8}
	})
}

func cop(t testing.TB, app, by string, told map[string]float64) gang.COP {
	t.Helper()
	m, err := model.New(app, told, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := mapper.New(by)
	if err != nil {
		t.Fatal(err)
	}
	return gang.COP{Model: m, Mapper: x}
}

func mesh(n float64) map[string]float64 { return map[string]float64{"n": n} }

// "In the case of 3 sites with 10 machines in each … the number of candidate groups is 360" [1, section III.B.2].
func TestCandidateGroups(t *testing.T) {
	ten := func(site int) []cluster { return []cluster{{10, 500, 256, site}} }
	for _, c := range []struct {
		of    []([]cluster)
		sites int
		want  int
	}{
		{[][]cluster{circus}, 1, 18},
		{[][]cluster{circus, torc, opus, major}, 3, 288},
		{[][]cluster{circus, torc, major}, 3, 240},
		{[][]cluster{ten(0), ten(1), ten(2)}, 3, 360},
	} {
		_, e, err := gang.Search(pool(5, c.of...), cop(t, "life", "min_max", mesh(4800)), gang.Policy{Conserve: 0.05})
		if err != nil || e.Groups != c.want || e.Sites != c.sites || e.Unions != 1<<c.sites-1 {
			t.Errorf("%d groups of %d sites, %v; want %d of %d", e.Groups, e.Sites, err, c.want, c.sites)
		}
		if e.Distinct > e.Groups || e.Mapped > e.Distinct || e.Mapped == 0 {
			t.Errorf("%+v: more are mapped than are distinct, or none", e)
		}
	}
}

// What an unloaded testbed gives, by the rule of two passes; computed from the formulas of [1] by another program,
// whose order of ranks within a site was another. That has no effect on broadcasts; with neighbours ours is no slower.
func TestChosenMachines(t *testing.T) {
	for _, c := range []struct {
		app      string
		n        float64
		conserve float64
		machines int
		sites    int
		time     float64
	}{
		{"life", 600, 0, 19, 3, 0.004032}, {"life", 4800, 0, 24, 3, 0.168764}, {"life", 9600, 0, 24, 3, 0.659766},
		{"life", 14400, 0, 24, 3, 1.473005}, {"life", 16800, 0, 24, 3, 2.000464}, {"life", 19200, 0, 24, 3, 2.608482},
		{"life", 4800, 0.05, 23, 3, 0.173158}, {"life", 9600, 0.2, 18, 3, 0.780906}, {"life", 19200, 0.05, 23, 3, 2.677335},
		{"life", 19200, 0.5, 14, 3, 3.780983}, {"jacobi", 600, 0.05, 8, 1, 0.004097},
		{"jacobi", 4800, 0.2, 7, 1, 0.224063}, {"jacobi", 9600, 0.05, 16, 2, 0.730353},
		{"jacobi", 9600, 0, 18, 2, 0.705718}, {"jacobi", 14400, 0.05, 20, 3, 1.374195},
		{"jacobi", 14400, 0.2, 13, 3, 1.538785}, {"jacobi", 19200, 0.2, 14, 2, 2.439000},
		{"jacobi", 19200, 0.5, 8, 1, 3.053009},
	} {
		for _, by := range []string{"min_max", "time_balance"} {
			on := pool(5, circus, torc, opus, major)
			if c.app == "life" {
				on = pool(5, opus, major, circus, torc)
			}
			s, _, err := gang.Search(on, cop(t, c.app, by, mesh(c.n)),
				gang.Policy{Conserve: c.conserve})
			if err != nil {
				t.Fatal(err)
			}
			sameTime := math.Abs(s.Time-c.time) < 6e-7
			if c.app == "life" {
				sameTime = s.Time < c.time+6e-7 && s.Time > 0.99*c.time
			}
			sameMachines := len(s.Places) == c.machines || c.n == 600 && c.app == "life" && len(s.Places) == c.machines+1
			if !sameTime || !sameMachines || s.Sites != c.sites {
				t.Errorf("%s, %g, %g, %s: %d machines, %d sites, %.6f s; want %d, %d, %.6f s", c.app, c.n, c.conserve, by,
					len(s.Places), s.Sites, s.Time, c.machines, c.sites, c.time)
			}
		}
	}
}

// Where nothing but memory is modelled, the fewest sites and machines win, and then computation.
func TestByMemoryAlone(t *testing.T) {
	for n, machines := range map[float64]int{600: 1, 4800: 1, 9600: 2, 14400: 4, 16800: 6, 19200: 7} {
		c := cop(t, "memory", "equal", map[string]float64{"units": n, "unit_memory": 8 * n})
		s, _, err := gang.Search(pool(5, circus, torc, opus, major), c, gang.Policy{MemoryOnly: true})
		if err != nil || len(s.Places) != machines || s.Sites != 1 || s.Places[0] < 6 || s.Places[0] > 13 ||
			!math.IsNaN(s.Time) {
			t.Errorf("%g: machines %v in %d sites, %v; want %d of the fastest site", n, s.Places, s.Sites, err, machines)
		}
	}
}

// Three machines of one site are better than two of two sites, and one is better than both.
func TestFewerSitesBeforeFewerMachines(t *testing.T) {
	for small, want := range map[float64][]int{70: {0, 1, 2}, 60: {3, 4}} {
		var all []gang.Machine
		for _, mb := range []float64{small, small, small, 100, 100} {
			all = append(all, gang.Machine{Speed: 1, Memory: mb})
		}
		site := []int{0, 0, 0, 1, 2}
		p := gang.NewPool(all, func(a, b int) gang.Link {
			return gang.Link{Latency: 0.02 * math.Abs(float64(site[a]-site[b])), Bandwidth: 1e6}
		})
		c := cop(t, "memory", "equal", map[string]float64{"units": 200, "unit_memory": 1, "margin": 0})
		if s, _, err := gang.Search(p, c, gang.Policy{MemoryOnly: true}); err != nil || !reflect.DeepEqual(s.Places, want) {
			t.Errorf("memories of %g: machines %v, %v; want %v", small, s.Places, err, want)
		}
	}
}

// A rank without work is left out: the two fastest machines have a link that is worse than not to use them, and nothing
// but all four together was examined that has the others.
func TestRanksWithoutWorkAreLeftOut(t *testing.T) {
	row := 8.0 * 100 * 1.2
	p := gang.NewPool([]gang.Machine{{Speed: 4000, Memory: 55 * row}, {Speed: 3000, Memory: 54 * row},
		{Speed: 1000, Memory: 52 * row}, {Speed: 900, Memory: 51 * row}}, func(a, b int) gang.Link {
		if a == 0 || b == 0 {
			return gang.Link{Latency: 0.0005, Bandwidth: 4}
		}
		return gang.Link{Latency: 0.0005, Bandwidth: 1e6}
	})
	c := cop(t, "life", "min_max", map[string]float64{"n": 100, "point_cost": 1})
	s, _, err := gang.Search(p, c, gang.Policy{})
	if err != nil || !reflect.DeepEqual(s.Places, []int{2, 3}) || s.Time > 10 {
		t.Errorf("machines %v, %g s, %v; want those of the good link, 5.3 s", s.Places, s.Time, err)
	}
	s, _, err = gang.Search(p, c, gang.Policy{Ranks: gang.Range{Min: 3}})
	if err != nil || len(s.Places) < 3 {
		t.Errorf("machines %v, %v; want three or more", s.Places, err)
	}
}

// plain hides that a model is a Bounder.
type plain struct{ gang.Model }

// anyPool draws machines of several kinds in sites; some have several slots.
func anyPool(r *rand.Rand, sites, most int) *gang.Pool {
	var all []gang.Machine
	var site []int
	kinds := []float64{266e6, 400e6, 450e6, 550e6}
	for s := range sites {
		for range 1 + r.IntN(most) {
			m := gang.Machine{Speed: kinds[r.IntN(4)], Memory: float64(64+r.IntN(512)) * (1 << 20)}
			if r.IntN(4) == 0 {
				m.Slots = 1 + r.IntN(3)
			}
			all, site = append(all, m), append(site, s)
		}
	}
	wan := (0.5 + 20*r.Float64()) * 1e6 / 8
	return gang.NewPool(all, func(a, b int) gang.Link {
		if site[a] == site[b] {
			return gang.Link{Latency: 0.0005, Bandwidth: 80e6 / 8 * (1 - 0.5*r.Float64())}
		}
		return gang.Link{Latency: 0.005 + 0.03*r.Float64(), Bandwidth: wan * (0.5 + r.Float64())}
	})
}

// The bounds of a model change how many groups are mapped and nothing else. Repeat a case with -run and its name.
func TestBoundsChangeNothing(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := anyPool(r, 1+r.IntN(5), 5)
			app, by := []string{"life", "jacobi"}[r.IntN(2)], []string{"equal", "min_max", "time_balance"}[r.IntN(3)]
			told := map[string]float64{"n": float64(100 + r.IntN(9000)), "latency": float64(r.IntN(2))}
			c := cop(t, app, by, told)
			policy := gang.Policy{Conserve: []float64{0, 0.05, 0.3}[r.IntN(3)], OneSite: r.IntN(5) == 0}
			if r.IntN(3) == 0 {
				policy.Ranks = gang.Range{Min: 1 + r.IntN(4), Max: 4 + r.IntN(4)}
			}
			a, ea, erra := gang.Search(p, c, policy)
			b, eb, errb := gang.Search(p, gang.COP{Model: plain{c.Model}, Mapper: c.Mapper}, policy)
			if !reflect.DeepEqual(a, b) || (erra == nil) != (errb == nil) {
				t.Fatalf("%s, %s, %v, %+v:\n%+v, %v, with bounds\n%+v, %v", app, by, told, policy, a, erra, b, errb)
			}
			if ea.Groups != eb.Groups || ea.Distinct != eb.Distinct || ea.Mapped > eb.Mapped {
				t.Errorf("%+v with bounds, %+v without", ea, eb)
			}
			if again, _, _ := gang.Search(p, c, policy); !reflect.DeepEqual(a, again) {
				t.Error("the second search has another schedule")
			}
		})
	}
}

// A range is kept, whatever is best.
func TestRanksAreInTheRange(t *testing.T) {
	p := pool(5, circus, torc, opus, major)
	for _, r := range []gang.Range{{Min: 1, Max: 1}, {Min: 3, Max: 5}, {Min: 24}, {Min: 4, Max: 4}} {
		s, _, err := gang.Search(p, cop(t, "life", "min_max", mesh(2400)), gang.Policy{Ranks: r, Conserve: 0.05})
		if n := len(s.Places); err != nil || n < r.Min || r.Max > 0 && n > r.Max {
			t.Errorf("%+v: %d ranks, %v", r, n, err)
		}
	}
}

// Ranks share a machine with several slots, and its memory.
func TestSlots(t *testing.T) {
	p := gang.NewPool([]gang.Machine{{Speed: 1e9, Memory: 3 << 19, Slots: 3}, {Speed: 1e9, Memory: 3 << 17}},
		func(int, int) gang.Link { return gang.Link{Latency: 0.001, Bandwidth: 1e6} })
	s, e, err := gang.Search(p, cop(t, "life", "min_max", mesh(300)), gang.Policy{})
	if err != nil || !reflect.DeepEqual(s.Places, []int{0, 0, 0}) || s.Costs[0].Fixed != 0 || e.Groups != 12 {
		t.Errorf("ranks on %v, %+v, %v; want all three slots of the first, whose messages take nothing", s.Places, e, err)
	}
	room := (3 << 19) / (8 * 300 * 1.2) / 3
	if got := s.Costs[1].Most; math.Abs(got-room) > 1e-6 {
		t.Errorf("a rank has room for %g rows; want a third of the memory, %g", got, room)
	}
}

func TestErrors(t *testing.T) {
	p := pool(5, circus)
	life := cop(t, "life", "min_max", mesh(4800))
	for _, c := range []struct {
		pool   *gang.Pool
		cop    gang.COP
		policy gang.Policy
		want   string
		none   bool
	}{
		{p, life, gang.Policy{Ranks: gang.Range{Min: 5, Max: 3}}, "ranks: min 5 is above max 3: want min ≤ max", false},
		{p, life, gang.Policy{Ranks: gang.Range{Min: 7}}, "ranks: 7: the machines have 6 free slots", true},
		{p, life, gang.Policy{Ranks: gang.Range{Min: -1}}, "ranks: -1 to 0: want numbers from 1 on", false},
		{p, life, gang.Policy{Conserve: -1}, "conserve: -1: want a part from 0 on", false},
		{p, life, gang.Policy{SiteDelay: math.NaN()}, "site delay: NaN s", false},
		{p, cop(t, "life", "min_max", mesh(3)), gang.Policy{Ranks: gang.Range{Min: 4}},
			"ranks: 4: the work can be divided among 3 at most", true},
		{p, cop(t, "life", "min_max", mesh(20000)), gang.Policy{}, "20000 units: the memory of 6 ranks holds 8388", true},
		{p, cop(t, "life", "equal", mesh(12000)), gang.Policy{}, "12000 units: the memory of 6 ranks holds 13981", false},
		{pool(5, torc, major), cop(t, "life", "equal", mesh(12000)), gang.Policy{Ranks: gang.Range{Min: 9}},
			"14 ranks of 858 units each", false},
		{pool(5, []cluster{{3, 0, 256, 0}}), life, gang.Policy{}, "a machine computes nothing", true},
		{pool(0, circus, torc), cop(t, "life", "min_max", mesh(24000)), gang.Policy{}, "a link is not known", true},
	} {
		_, _, err := gang.Search(c.pool, c.cop, c.policy)
		if c.none && !errors.Is(err, gang.ErrNone) || err != nil && !strings.Contains(err.Error(), c.want) ||
			err != nil && strings.Contains(err.Error(), "\n") || c.none && err == nil {
			t.Errorf("%+v: got %v; want %s, and ErrNone: %v", c.policy, err, c.want, c.none)
		}
	}
}

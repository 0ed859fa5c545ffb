package mesh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// world is unloaded hosts; each pair has a cable of its own for each direction.
func world(speeds []float64, link func(a, b int) (bytes, latency float64)) *World {
	w := &World{}
	n := len(speeds)
	w.Net.Hosts = n
	for a, s := range speeds {
		w.Hosts = append(w.Hosts, Host{Speed: s, Load: Constant(1)})
		for b := range n {
			w.Net.Path = append(w.Net.Path, []int{len(w.Net.Capacity)})
			bytes, latency := link(a, b)
			w.Net.Capacity = append(w.Net.Capacity, Constant(bytes))
			w.Net.Latency = append(w.Net.Latency, latency)
		}
	}
	return w
}

func hosts(n int) (all []int) {
	for k := range n {
		all = append(all, k)
	}
	return all
}

// With links of one's own and no latency an iteration of Life takes what the formula says of its slowest rank:
// exchanges are waited for by both sides, and all cycles of the events average over single ranks.
func TestLifeTakesWhatTheModelSays(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			n := 1 + r.IntN(12)
			var speeds []float64
			var rows []int
			for range n {
				speeds, rows = append(speeds, 1e6*(1+r.Float64())), append(rows, 5+r.IntN(40))
			}
			band := make([]float64, n*n)
			for a := range n {
				for b := range a {
					band[a*n+b] = 1e4 * (1 + 4*r.Float64())
					band[b*n+a] = band[a*n+b]
				}
			}
			p := Life(100)
			w := world(speeds, func(a, b int) (float64, float64) { return band[a*n+b], 0 })
			want := 0.0
			for k := range n {
				x := p.PointCost * float64(rows[k]) * 100 / speeds[k]
				if k > 0 {
					x += 400 / band[k*n+k-1]
				}
				if k+1 < n {
					x += 400 / band[k*n+k+1]
				}
				want = max(want, x)
			}
			p.Eager = r.IntN(2) == 0
			got := w.Run(p, hosts(n), rows, 7)
			if math.Abs(got.Iteration-want) > 0.01*want || got.Iteration > want*(1+1e-9) && n < 3 {
				t.Errorf("%d ranks take %g s; the formula says %g", n, got.Iteration, want)
			}
		})
	}
}

// Broadcasts take p·⌈log2 p⌉ messages one after the other when nobody computes.
func TestBroadcastSteps(t *testing.T) {
	for p, want := range map[int]float64{1: 0, 2: 2, 3: 6, 4: 8, 5: 15, 6: 18, 7: 21, 8: 24, 9: 36, 12: 48, 15: 60, 16: 64,
		18: 90, 20: 100, 24: 120} {
		w := world(make([]float64, p), func(int, int) (float64, float64) { return 1000, 0 })
		var rows []int
		for k := range p {
			w.Hosts[k].Speed = 1e12
			rows = append(rows, 125)
		}
		program := Jacobi(125 * p)
		program.PointCost, program.Eager = 1e-9, p%2 == 0
		got := w.Run(program, hosts(p), rows, 0).Iteration // a message of 1000 bytes takes a second
		if math.Abs(got-want) > 0.02*want+1e-6 {
			t.Errorf("%d ranks take %g messages; want %g", p, got, want)
		}
	}
}

// The tree of [1, Fig. IV.5]: 0 sends to 4, 2, 1; 4 to 6, 5; 2 to 3.
func TestBroadcastTree(t *testing.T) {
	out := make([][]operation, 7)
	broadcast(out, 0, 1)
	for from, want := range map[int][]int{0: {4, 2, 1}, 4: {6, 5}, 2: {3}, 1: nil, 6: nil} {
		var to []int
		for _, op := range out[from] {
			if op.kind == send {
				to = append(to, op.to)
			}
		}
		if fmt.Sprint(to) != fmt.Sprint(want) {
			t.Errorf("%d sends to %v; want %v", from, to, want)
		}
	}
}

// Messages that share a cable have half of it each, and a latency is paid by the receiver alone.
func TestMessagesShareACable(t *testing.T) {
	w := world([]float64{1e9, 1e9}, func(int, int) (float64, float64) { return 1000, 0.25 })
	w.Net.Path[1], w.Net.Path[2] = []int{1}, []int{1}
	p := Life(250)
	p.PointCost = 1e-9
	if got := w.Run(p, hosts(2), []int{125, 125}, 0).Iteration; math.Abs(got-2.25) > 1e-6 {
		t.Errorf("two messages of 1000 bytes at once, and 0.25 s: %g s; want 2.25", got)
	}
	w.Net.Path[2] = []int{2}
	if got := w.Run(p, hosts(2), []int{125, 125}, 0).Iteration; math.Abs(got-1.25) > 1e-6 {
		t.Errorf("each on its own: %g s; want 1.25", got)
	}
}

// Load slows a host down for as long as it is there, and a capacity that changes changes the rate of what is under way.
func TestTraces(t *testing.T) {
	k := 0
	tr := NewTrace(func() (float64, float64) { k++; return []float64{1, 0.5}[k%2], 10 })
	for _, c := range []struct{ now, work, want float64 }{{0, 4, 8}, {0, 5, 10}, {0, 8, 13}, {15, 10, 30},
		{5, 30, 45}} {
		if got := tr.After(c.now, c.work, 1); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g of work from %g on ends at %g; want %g", c.work, c.now, got, c.want)
		}
	}
	if v, until := tr.Value(9.5); v != 0.5 || until != 10 {
		t.Errorf("looking back: %g until %g", v, until)
	}
	w := world([]float64{1e9, 1e9}, func(int, int) (float64, float64) { return 1000, 0 })
	first := true
	w.Net.Capacity[1] = NewTrace(func() (float64, float64) {
		if first {
			first = false
			return 1000, 0.5
		}
		return 250, 1e9
	})
	p := Life(250)
	p.PointCost = 1e-9
	if got := w.Run(p, hosts(2), []int{125, 125}, 0); math.Abs(got.End-(0.5+0.5*4+103*4)) > 1e-3 {
		t.Errorf("ends at %g; want 414.5", got.End)
	}
}

// A slow rank gets what a fast one has sent long before: where messages are eager, their latency is hidden. Where they
// leave when both sides are there, it is paid in each iteration.
func TestEagerMessages(t *testing.T) {
	w := world([]float64{1e6, 1e5}, func(int, int) (float64, float64) { return 1e6, 0.02 })
	p := Program{N: 100, PointCost: 10, ValueBytes: 10} // 0.05 and 0.5 s, and messages of 1 ms
	for eager, want := range map[bool]float64{true: 0.501, false: 0.521} {
		p.Eager = eager
		if got := w.Run(p, hosts(2), []int{50, 50}, 0).Iteration; math.Abs(got-want) > 1e-6 {
			t.Errorf("eager %v: %g s an iteration; want %g", eager, got, want)
		}
	}
}

func TestForecast(t *testing.T) {
	for _, c := range []struct {
		series []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{1, 2, 3, 4, 5, 6}, 6}, {[]float64{1, 1, 1, 1, 1, 8, 1, 1}, 1},
		{[]float64{1, 3, 1, 3, 1, 3}, 2}} {
		if got := Forecast(c.series); got != c.want {
			t.Errorf("%v: %g; want %g", c.series, got, c.want)
		}
	}
	if !math.IsNaN(Forecast(nil)) {
		t.Error("a forecast of nothing")
	}
}

package mesh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// ports gives each host a resource for what it sends and one for what it receives.
func ports(hosts int, bytes, latency float64) (capacity []float64, routes Routes) {
	for range 2 * hosts {
		capacity = append(capacity, bytes)
	}
	return capacity, func(from, to int) ([]int, float64) { return []int{2 * from, 2*to + 1}, latency }
}

// run goes on until no program runs.
func (l *Live) run(t *testing.T) (all []Done) {
	t.Helper()
	for n := 0; !math.IsInf(l.Next(), 1); n++ {
		if n > 1e6 {
			t.Fatal("it does not end")
		}
		all = append(all, l.Advance(l.Next())...)
	}
	return all
}

// A program alone on hosts whose speeds do not change runs as one in a world that is known beforehand.
func TestLiveAlone(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := 1 + r.IntN(7)
		var speeds []float64
		var rows []int
		for range n {
			speeds, rows = append(speeds, 1e6*(1+r.Float64())), append(rows, 5+r.IntN(40))
		}
		p := Life(100)
		if seed%2 == 0 {
			p = Jacobi(100)
		}
		p.Eager = seed%3 == 0
		capacity, routes := ports(n, 2e4, 0.003)
		w := world(speeds, func(int, int) (float64, float64) { return 1, 0.003 })
		w.Net.Capacity = nil
		for _, c := range capacity {
			w.Net.Capacity = append(w.Net.Capacity, Constant(c))
		}
		for a := range n {
			for b := range n {
				w.Net.Path[a*n+b], _ = routes(a, b)
			}
		}
		want := w.Run(p, hosts(n), rows, 5)
		l := NewLive(speeds, capacity, routes)
		l.Advance(5)
		l.Start(3, p, hosts(n), rows, Warmup+Measured)
		got := l.run(t)
		if !reflect.DeepEqual(got, []Done{{3, want.End, want.Iteration}}) {
			t.Errorf("seed %d: %+v; want %+v", seed, got, want)
		}
	}
}

// compute is a program whose only cost is computing: so many cycles for a row.
func compute1(cycles float64) Program { return Program{N: 1, PointCost: cycles, ValueBytes: 0} }

// A change of speed changes when the work at hand ends, whenever it comes.
func TestLiveSpeeds(t *testing.T) {
	capacity, routes := ports(1, 1e9, 0)
	l := NewLive([]float64{100}, capacity, routes)
	l.Start(1, compute1(1000), []int{0}, []int{1}, 2) // 10 s each
	l.Advance(4)
	l.SetSpeed(0, 50) // 600 left: until 16
	l.Advance(10)
	l.SetSpeed(0, 300) // 300 left: until 11, and 14.33
	if got := l.run(t); len(got) != 1 || math.Abs(got[0].At-43.0/3) > 1e-9 || math.Abs(got[0].Iteration-43.0/6) > 1e-9 {
		t.Errorf("%+v; want the end at 14.333, 7.1667 s an iteration", got)
	}
}

// Programs whose messages go through one port have half of it each, until one of them is stopped.
func TestLiveProgramsShare(t *testing.T) {
	capacity, routes := ports(3, 1000, 0)
	slow := Program{N: 1000, PointCost: 1e-9, ValueBytes: 1, Eager: true} // 1000 bytes, and hardly any work
	for _, stopped := range []bool{false, true} {
		l := NewLive([]float64{1e9, 1e9, 1e9}, capacity, routes)
		l.Start(1, slow, []int{0, 1}, []int{500, 500}, 10)
		l.Start(2, slow, []int{0, 2}, []int{500, 500}, 10)
		want := []Done{{1, 20, 2}, {2, 20, 2}}
		if stopped {
			l.Advance(3)
			l.Stop(2)
			l.Stop(2)
			want = []Done{{1, 11.5, 1}}
		}
		got := l.run(t)
		if len(got) != len(want) {
			t.Fatalf("%+v; want %+v", got, want)
		}
		for k := range got {
			if got[k].Name != want[k].Name || math.Abs(got[k].At-want[k].At) > 1e-3 ||
				math.Abs(got[k].Iteration-want[k].Iteration) > 1e-3 {
				t.Errorf("stopped %v: %+v; want %+v", stopped, got, want)
			}
		}
	}
}

// Ranks on one host exchange messages in no time.
func TestLiveRanksOfOneHost(t *testing.T) {
	capacity, routes := ports(2, 1, 5)
	l := NewLive([]float64{100, 100}, capacity, routes)
	l.Start(1, Life(10), []int{1, 1, 1}, []int{5, 3, 2}, 20)
	want := 72 * 5 * 10 / 100.0
	if got := l.run(t); len(got) != 1 || math.Abs(got[0].Iteration-want) > 1e-9 {
		t.Errorf("%+v; want %g s an iteration", got, want)
	}
}

// Whatever begins, stops and changes when: no rank waits for ever, all resources are free in the end.
func TestLiveAtRandom(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			capacity, routes := ports(4, 500, 0.01)
			l := NewLive([]float64{100, 200, 300, 400}, capacity, routes)
			name, stopped, ended := uint64(0), 0, 0
			for now := 0.0; now < 200; now += 5 * r.Float64() {
				ended += len(l.Advance(now))
				switch r.IntN(4) {
				case 0, 1:
					p := Program{N: 20, PointCost: 1 + r.Float64(), ValueBytes: 4, Broadcasts: r.IntN(2) == 0,
						Eager: r.IntN(2) == 0}
					var on, rows []int
					for range 1 + r.IntN(4) {
						on, rows = append(on, r.IntN(4)), append(rows, 1+r.IntN(9))
					}
					name++
					l.Start(name, p, on, rows, 1+r.IntN(30))
				case 2:
					l.SetSpeed(r.IntN(4), 50+400*r.Float64())
				case 3:
					before := len(l.programs)
					l.Stop(1 + uint64(r.IntN(int(name)+1)))
					stopped += before - len(l.programs)
				}
			}
			ended += len(l.run(t))
			if ended+stopped != int(name) || len(l.programs) > 0 || len(l.active) > 0 || len(l.flows.active) > 0 {
				t.Errorf("%d programs: %d ended, %d stopped, %d left", name, ended, stopped, len(l.programs))
			}
			for k, n := range l.flows.count {
				if n != 0 {
					t.Errorf("%d messages on resource %d", n, k)
				}
			}
		})
	}
}

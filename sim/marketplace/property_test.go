package marketplace

import (
	"container/heap"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"skep/balance/market"
	"skep/grid"
)

// drawn is a small system that nobody has thought of: a seed of it fails again when it is named.
func drawn(seed uint64) *System {
	r := grid.NewRand(seed, 9)
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	s := Default()
	s.Name = fmt.Sprintf("seed %d", seed)
	s.Load = between(0.1, 0.6)
	s.Servers = Servers{Count: 1 + r.IntN(8), Speed: between(0.05, 0.5), Units: float64(1 + r.IntN(10)),
		Ratio: between(0.3, 1)}
	s.Tasks.Spread, s.Tasks.Burst = between(1, 20), 1+r.IntN(4)
	if r.IntN(2) == 0 {
		s.Background = Background{Share: between(0.1, 0.6), Size: between(0.2, 2), Units: s.Servers.Units}
	}
	if r.IntN(2) == 0 {
		s.Delay, s.PerSize = between(0, 0.05), between(0, 0.05)
	}
	if r.IntN(3) == 0 {
		s.Ageing = &Ageing{Interval: 0.3, Time: 5, Max: 3}
	}
	s.Readings = Readings{Deadlines: market.Judged(r.IntN(3)), LastNews: r.IntN(2) == 0, DropLate: r.IntN(2) == 0,
		WholeCapacity: r.IntN(2) == 0}
	return s
}

// span is what is measured in these runs: all that comes in 40 units, and 600 for the last of it to end.
var span = Options{Measured: 40, Tail: 600, Seed: 3}

func ran(t *testing.T, s *System, name string) *engine {
	t.Helper()
	p, err := market.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	e := newEngine(s, p, &span, 0, &stop)
	e.run() // panics where work is lost or invented
	return e
}

// Under every protocol and in every system each task ends once, wherever it was moved to and however messages overtake
// each other; and none is done sooner on the average than on one server with the speed of all, which has no background
// load, hears of everything at once and always runs the task with least left, the order of the least mean time.
func TestEveryTaskEndsOnce(t *testing.T) {
	for seed := range uint64(25) {
		s := drawn(seed)
		bound := pooled(s)
		for _, name := range market.Names() {
			e := ran(t, s, name)
			b := &e.books
			p := e.p
			if p.Reserve { // what nobody sells at its bid may wait for ever
				if b.back > b.created {
					t.Errorf("%s: %s: %d results of %d tasks", s.Name, name, b.back, b.created)
				}
				continue
			}
			if b.back != b.created {
				t.Errorf("%s: %s: %d results of %d tasks", s.Name, name, b.back, b.created)
			}
			if mean := b.times / float64(b.back); mean < bound*(1-1e-9) {
				t.Errorf("%s: %s: mean time %g, and one server with the speed of all takes %g", s.Name, name, mean, bound)
			}
		}
	}
}

// least are the tasks of a server that always runs the one with least left.
type least []plainTask

func (l least) Len() int           { return len(l) }
func (l least) Less(i, j int) bool { return l[i].size < l[j].size }
func (l least) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *least) Push(x any)        { *l = append(*l, x.(plainTask)) }
func (l *least) Pop() any {
	old := *l
	x := old[len(old)-1]
	*l = old[:len(old)-1]
	return x
}

// pooled is the mean time of the measured tasks on one server with the speed of all, where no others come.
func pooled(s *System) float64 {
	src := newSource(s, 0, span.Measured, func(k int) *grid.Rand { return grid.NewRand(span.Seed, uint64(k)) })
	src.advance()
	var tasks least
	sum, now, n := 0.0, 0.0, 0
	work := func(until float64) {
		for len(tasks) > 0 && now < until {
			d := min(tasks[0].size/s.Capacity(), until-now)
			if now += d; d < tasks[0].size/s.Capacity() {
				tasks[0].size -= d * s.Capacity()
				break
			}
			sum, n = sum+now-tasks[0].created, n+1
			heap.Pop(&tasks)
		}
		now = max(now, until)
	}
	for src.counted < src.most {
		work(src.next)
		for range s.Tasks.Burst {
			var x task
			if src.make(&x, src.next); x.counts {
				heap.Push(&tasks, plainTask{src.next, x.query.Size, x.weight})
			}
		}
		src.advance()
	}
	now = min(now, src.next)
	work(math.MaxFloat64)
	return sum / float64(n)
}

// Where all bid the same and messages take no time, nobody outbids anybody: the protocols that suspend are the auction
// that does not, and so is the order of arrival.
func TestEqualBids(t *testing.T) {
	for seed := range uint64(25) {
		s := drawn(seed)
		s.Tasks.Weights, s.Ageing, s.Delay, s.PerSize = [2]float64{1, 1}, nil, 0, 0
		want := ran(t, s, "cda").books
		for _, name := range []string{"hbp", "hbp_t:5", "pe_p", "pe_t:2", "fifo"} {
			got := ran(t, s, name).books
			if got.stops != 0 || got.moves != 0 {
				t.Errorf("%s: %s: %d tasks suspended, %d moved", s.Name, name, got.stops, got.moves)
			}
			if got.messages = want.messages; got != want {
				t.Errorf("%s: %s: %+v, cda has %+v", s.Name, name, got, want)
			}
		}
	}
}

// A deadline that the fastest server cannot meet is met by nobody, and one that is far away by everybody.
func TestDeadlinesOutOfReach(t *testing.T) {
	for seed := range uint64(15) {
		s := drawn(seed)
		s.Ageing = nil
		fastest := s.Servers.speed(s.Servers.Count-1) / s.Servers.Speed
		for _, name := range market.Names() {
			s.Tasks.Factor = 0.99 / fastest
			if b := ran(t, s, name).books; b.onTime != 0 {
				t.Errorf("%s: %s: a part of %.3f was on time, %.2f times faster than the fastest server", s.Name, name,
					b.onTime/b.weights, 1/0.99)
			}
			s.Tasks.Factor = 1e6
			if b := ran(t, s, name).books; b.onTime < b.weights*(1-1e-9) && !ran(t, s, name).p.Reserve {
				t.Errorf("%s: %s: %.3f on time, with all the time that there is", s.Name, name, b.onTime/b.weights)
			}
		}
	}
}

// A budget of moves bounds how often a task moves, suspended or not; it still ends.
func TestBudgetOfMoves(t *testing.T) {
	all := 0
	for seed := range uint64(15) {
		s := drawn(seed)
		s.Ageing = nil
		for _, most := range []int{1, 3} {
			b := ran(t, s, fmt.Sprintf("pe_a:%d", most)).books
			if b.moves > most*b.created || b.finished == 0 {
				t.Errorf("%s: %d tasks have moved %d times, at most %d each", s.Name, b.created, b.moves, most)
			}
			if free := ran(t, s, "pe_a").books; most == 1 && free.moves > free.created {
				all++
			}
		}
	}
	if all == 0 {
		t.Error("no system has tasks that move more than once without a budget")
	}
}

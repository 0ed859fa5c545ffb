package proportional

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Section 6.5.4 of [1]: task i gets avail·p_i/Σp.
func TestSharesAreProportionalToBids(t *testing.T) {
	level := Level(1, []Task{{1, 1}, {2, 1}, {4, 1}})
	for bid, want := range map[float64]float64{1: 1. / 7, 2: 2. / 7, 4: 4. / 7} {
		if got := Speed(level, bid); math.Abs(got-want) > 1e-12 {
			t.Errorf("a bid of %v gets %v of a core, want %v", bid, got, want)
		}
	}
}

func TestLevel(t *testing.T) {
	for _, c := range []struct {
		cores float64
		tasks []Task
		want  []float64 // speeds, in the order of falling bids
	}{
		{2, nil, nil},
		{2, []Task{{1, 1}, {9, 1}}, []float64{1, 1}},
		{2, []Task{{1, 1}, {1, 1}, {1, 1}, {1, 1}}, []float64{.5, .5, .5, .5}},
		{2, []Task{{1, 2}, {1, 1}, {1, 1}}, []float64{.5, .5, .5}}, // more cores, the same speed
		{2, []Task{{1, 1}, {9, 1}, {1, 1}}, []float64{1, .5, .5}},  // one cannot use more than a core
		{2, []Task{{1, 1}, {1, 1}, {2, 1}}, []float64{1, .5, .5}},
		{0, []Task{{2, 1}, {1, 1}}, []float64{0, 0}},
	} {
		level := Level(c.cores, c.tasks)
		for i, task := range c.tasks {
			if got := Speed(level, task.Bid); math.Abs(got-c.want[i]) > 1e-12 {
				t.Errorf("%v on %v cores: speeds %v at bid %v, want %v", c.tasks, c.cores, got, task.Bid, c.want[i])
			}
		}
	}
}

func drawTasks(t *rapid.T) []Task {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Task {
		return Task{float64(rapid.IntRange(1, 10_000).Draw(t, "bid")) / 1000, float64(rapid.IntRange(1, 8000).Draw(t,
			"milli-cores")) / 1000}
	}), 1, 40).Draw(t, "tasks")
}

// All cores are used if they can be, no task has more than it can use, and of two that lack some each has as much for
// its bid.
func TestCoresAreDivided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks, cores := drawTasks(t), float64(rapid.IntRange(1, 64).Draw(t, "cores"))
		level, used, wanted, least := Level(cores, tasks), 0.0, 0.0, 1.0
		for _, x := range tasks {
			speed := Speed(level, x.Bid)
			used, wanted, least = used+speed*x.Cores, wanted+x.Cores, min(least, speed)
			if speed < 0 || speed > 1 || speed < 1 && math.Abs(speed/x.Bid-level) > 1e-9*level {
				t.Fatalf("a bid of %v runs at %v, the level is %v", x.Bid, speed, level)
			}
		}
		if want := min(cores, wanted); math.Abs(used-want) > 1e-6 {
			t.Fatalf("%v of %v cores are used, %v are wanted", used, cores, wanted)
		}
		for _, bound := range []float64{.05, .2, .5, 1} {
			last := tasks[len(tasks)-1]
			room := Room(cores, bound, last.Bid, tasks[:len(tasks)-1])
			if got := last.Cores <= room; got != (least >= bound) && math.Abs(least-bound) > 1e-6 {
				t.Fatalf("the slowest runs at %v, and at %v or more: %v", least, bound, got)
			}
		}
	})
}

// The example of the guide, and the bound that it states: on one core a bid of 1 lets in up to 1/S − 1.
func TestRoomBesideALowerBid(t *testing.T) {
	seven := []Task{{4, 1}, {2, 1}}
	for _, c := range []struct {
		least, bid float64
		beside     []Task
		admits     bool
	}{
		{0.14, 1, seven, true},
		{0.2, 1, seven, false},
		{0.2, 4, []Task{{1, 1}}, true},
		{0.2, 4.1, []Task{{1, 1}}, false},
		{0.2, 4, []Task{{2, 1}, {1, 1}}, false},
		{1. / 11, 10, []Task{{1, 1}}, true},
	} {
		if room := Room(1, c.least, c.bid, c.beside); (room >= 1) != c.admits {
			t.Errorf("at least %v: a bid of %v beside %v has room for %v cores; admitted: want %v", c.least, c.bid, c.beside,
				room, c.admits)
		}
	}
}

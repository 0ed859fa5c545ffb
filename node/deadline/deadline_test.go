package deadline

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func TestWatchReturnsEachDeadlineOnceAndSetsOneTimer(t *testing.T) {
	var w Watch
	var fx grid.Effects
	a, b, c := grid.JobID{Nonce: [10]byte{1}}, grid.JobID{Nonce: [10]byte{2}}, grid.JobID{Nonce: [10]byte{3}}
	w.Add(30, b, &fx)
	w.Add(50, c, &fx) // comes later: the timer that is set suffices
	w.Add(30, a, &fx)
	w.Add(20, c, &fx)
	if len(fx.Wakes) != 2 || fx.Wakes[1].At != 20 {
		t.Fatalf("timers: %+v", fx.Wakes)
	}
	var got []grid.JobID
	due := func(now grid.Time) []grid.JobID {
		got = got[:0]
		for id, ok := w.Due(now, &fx); ok; id, ok = w.Due(now, &fx) {
			got = append(got, id)
		}
		return got
	}
	if x := due(19); len(x) != 0 {
		t.Errorf("before the first deadline %v is due", x)
	}
	if x := due(20); !slices.Equal(x, []grid.JobID{c}) || fx.Wakes[len(fx.Wakes)-1].At != 30 {
		t.Errorf("at the first deadline %v is due, the next timer is at %v", x, fx.Wakes[len(fx.Wakes)-1].At)
	}
	if x := due(60); !slices.Equal(x, []grid.JobID{a, b, c}) {
		t.Errorf("after all deadlines %v is due", x)
	}
	timers := len(fx.Wakes)
	if x := due(100); len(x) != 0 || len(fx.Wakes) != timers {
		t.Errorf("once all were due: %v, %d timers", x, len(fx.Wakes)-timers)
	}
}

// The deadline of a job from before this boot may lie before its clock's zero.
func TestWatchOfWhatIsLongOver(t *testing.T) {
	var w Watch
	var fx grid.Effects
	w.Add(-5, grid.JobID{}, &fx)
	if len(fx.Wakes) != 1 || fx.Wakes[0].At != 1 {
		t.Fatalf("timers: %+v", fx.Wakes)
	}
	if _, due := w.Due(1, &fx); !due {
		t.Error("a deadline that is long over is not due")
	}
}

func TestEarliest(t *testing.T) {
	for _, x := range []struct {
		tasks int
		lanes []Lane
		want  float64
	}{
		{10, nil, 0},
		{1, []Lane{{1, 0, 5}}, 5},
		{1, []Lane{{1, 3, 5}, {4, 0, 7}}, 7},
		{10, []Lane{{1, 0, 5}}, 50},
		{10, []Lane{{4, 0, 5}}, 15},
		{9, []Lane{{1, 0, 1}, {1, 0, 2}}, 6}, // 6 and 3
		{3, []Lane{{1, 100, 1}, {1, 0, 2}}, 6},
		{100_000, []Lane{{64, 0, 60}, {64, 0, 60}}, 782 * 60},
		{5, []Lane{{0, 0, 1}}, 0},
		{5, []Lane{{1, 0, 0}}, 0},
	} {
		if got := Earliest(x.tasks, x.lanes); math.Abs(got-x.want) > 1e-5*x.want {
			t.Errorf("%d tasks on %+v: %v, want %v", x.tasks, x.lanes, got, x.want)
		}
	}
}

// Against a list of all ends.
func TestEarliestOfRandomNodes(t *testing.T) {
	rng := grid.NewRand(7, 1)
	for range 300 {
		tasks, lanes := 1+rng.IntN(60), make([]Lane, 1+rng.IntN(6))
		var ends []float64
		for i := range lanes {
			lanes[i] = Lane{1 + rng.IntN(3), rng.Float64() * 10, 0.1 + rng.Float64()*5}
			for k := range tasks {
				for range lanes[i].Slots {
					ends = append(ends, lanes[i].Ready+lanes[i].Run*float64(k+1))
				}
			}
		}
		slices.Sort(ends)
		if got := Earliest(tasks, lanes); math.Abs(got-ends[tasks-1]) > 1e-4*ends[tasks-1] {
			t.Fatalf("%d tasks on %+v: %v, want %v", tasks, lanes, got, ends[tasks-1])
		}
	}
}

func TestImpossible(t *testing.T) {
	spec := &grid.JobSpec{Count: 10}
	lanes := []Lane{{Slots: 1, Run: 60}}
	for _, x := range []struct {
		d    grid.Deadline
		want string
	}{
		{grid.Deadline{}, ""},
		{grid.Deadline{At: 11 * time.Minute}, ""},
		{grid.Deadline{At: 9 * time.Minute}, "deadline 9m0s: cannot be met: the last of its 10 tasks is expected to end 10m"},
		{grid.Deadline{At: time.Minute, Worthless: 11 * time.Minute}, ""},
		{grid.Deadline{At: time.Minute, Worthless: 9 * time.Minute}, "deadline.worthless 9m0s: cannot be met"},
	} {
		spec.Rules.Deadline = x.d
		if got := Impossible(spec, "sim", lanes); (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%+v: %q, want %q", x.d, got, x.want)
		}
		if got := Impossible(spec, "sim", nil); got != "" {
			t.Errorf("%+v, and nothing is known: %q", x.d, got)
		}
	}
	spec.Gang.Ranks, spec.Rules.Deadline = 10, grid.Deadline{At: 2 * time.Minute}
	if got := Impossible(spec, "sim", lanes); got != "" {
		t.Errorf("ranks run together: %q", got)
	}
	spec.Rules.Deadline.At = 30 * time.Second
	if got := Impossible(spec, "sim", lanes); got == "" {
		t.Error("ranks that run together take as long as one")
	}
	if spec.Gang.Min = 2; Impossible(spec, "sim", lanes) != "" {
		t.Error("refused by a run time that may be of another number of ranks")
	}
}

// By hand: bids 1, 2 and 4 with exit 0, the second after its deadline; one missed, one failed.
func TestEnds(t *testing.T) {
	var e Ends
	add := func(bid grid.Bid, d grid.Deadline, cause grid.Cause, exit int32, took time.Duration) {
		r := &grid.Result{Cause: cause, Exit: exit, Wall: 8 * time.Second}
		e.Add(&grid.JobSpec{Rules: grid.Rules{Bid: bid, Deadline: d}}, r, took)
	}
	const s = time.Second
	add(0, grid.Deadline{}, grid.Exited, 0, 7*s)
	add(2000, grid.Deadline{At: 10 * s, Worthless: 30 * s}, grid.Exited, 0, 11*s)
	add(4000, grid.Deadline{At: 10 * s}, grid.Exited, 0, 10*s)
	add(4000, grid.Deadline{At: 10 * s}, grid.Missed, grid.ExitMissed, 10*s)
	add(500, grid.Deadline{}, grid.Exited, 1, s)
	if want := (Ends{Good: 3, Missed: 1, Other: 1, InTime: 5, Late: 6.5, Weighted: 7 + 22 + 40,
		Value: 7 + 2*0.95*8 + 4*8}); e != want {
		t.Errorf("%+v, want %+v", e, want)
	}
}

// A counter never falls: not by rounding either, as the difference of two sums does.
func TestBidsOfLateTasksNeverFall(t *testing.T) {
	var e Ends
	add := func(bid grid.Bid, cause grid.Cause) {
		before := e
		e.Add(&grid.JobSpec{Rules: grid.Rules{Bid: bid}}, &grid.Result{Cause: cause}, 0)
		if e.Late < before.Late || e.InTime < before.InTime {
			t.Fatalf("after a task that bid %v: late %v, in time %v; before %v and %v", bid, e.Late, e.InTime, before.Late,
				before.InTime)
		}
	}
	add(100, grid.Missed)
	for range 1000 {
		add(100, grid.Exited)
	}
	if e.Late != 0.1 {
		t.Errorf("bids of late tasks %v, want that of the one which was missed, 0.1", e.Late)
	}
}

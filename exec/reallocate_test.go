package exec

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/balance/order"
	"skep/balance/reallocation"
	"skep/grid"
)

// reallocating is a node of two cores whose cores are allocated anew by what tasks bid. They are expected to take 10
// minutes.
type reallocating struct {
	*bidding
	*reallocation.Chooser
}

func newReallocating(t testing.TB) *reallocating {
	e := new(New(grid.Resources{CPU: 2 * grid.CPU, Memory: 4 * grid.GiB}))
	cfg := order.Defaults()
	cfg.Rule, cfg.Reallocate = "fifo", reallocation.Config{Every: time.Minute, Utility: "um_p1"}
	e.OrderBy(&cfg, func(string) (float64, float64) { return 600, 0 })
	return &reallocating{&bidding{Exec: e, t: t}, reallocation.NewChooser(&cfg.Reallocate)}
}

// tick allocates the cores anew, and says what becomes of what.
func (r *reallocating) tick(now grid.Time) (did string) {
	r.Advance(now)
	x := r.Reallocate(now, r.Chooser)
	for _, list := range []struct {
		what  string
		works []*Work
	}{{"suspend", x.Suspended}, {"resume", x.Resumed}, {"start", x.Started}} {
		for _, w := range list.works {
			did += fmt.Sprintf("%s %d ", list.what, w.ID.Task.Index)
		}
	}
	return did
}

func (r *reallocating) wantTick(now grid.Time, want string) {
	r.t.Helper()
	if did := r.tick(now); did != want {
		r.t.Fatalf("at %v: %q, want %q", time.Duration(now), did, want)
	}
}

// What bids most runs after a tick. Between two nothing is suspended, and what becomes free is taken as ever.
func TestWhatIsWorthMostRuns(t *testing.T) {
	r := newReallocating(t)
	r.come(0, 1)
	two := r.come(0, 2)
	r.want(0, "start 1 start 2 ")
	four := r.come(minute, 4)
	r.come(minute, 1)
	r.want(minute, "")
	r.wantTick(minute, "suspend 1 start 3 ")
	if s := r.SuspensionsOf(r.running[0]); s == nil || s.By != four.ID.Task.Job {
		t.Errorf("suspended for %+v: want for %v", s, four.ID.Task.Job)
	}
	r.wantTick(2*minute, "") // it was the best before
	r.end(2*minute, two)
	r.want(2*minute, "resume 1 ") // before what waits
	r.come(3*minute, 9)
	r.wantTick(3*minute, "suspend 1 start 5 ")
	r.end(4*minute, four)
	r.want(4*minute, "resume 1 ")
}

// What was suspended three times, or for ten minutes in all, goes on whatever comes.
func TestSuspensionsByTicksAreBounded(t *testing.T) {
	r := newReallocating(t)
	r.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU = 2 * grid.CPU })
	r.want(0, "start 1 ")
	now := grid.Time(0)
	for n := range grid.MaxSuspensions {
		now += minute
		w := r.come(now, 9, func(s *grid.JobSpec) { s.Needs.CPU = 2 * grid.CPU })
		r.wantTick(now, fmt.Sprintf("suspend 1 start %d ", n+2))
		now += minute
		r.end(now, w)
		r.want(now, "resume 1 ")
	}
	r.come(now+minute, 9)
	r.wantTick(now+minute, "")

	r = newReallocating(t)
	first := r.come(0, 1)
	r.come(0, 1)
	r.want(0, "start 1 start 2 ")
	r.come(minute, 9)
	r.come(minute, 9)
	r.wantTick(minute, "suspend 1 suspend 2 start 3 start 4 ")
	later := minute + grid.Time(grid.MaxSuspended)
	r.come(later, 9)
	r.wantTick(later, "suspend 3 suspend 4 resume 1 resume 2 ")
	if r.Suspended(first) {
		t.Error("it is suspended still")
	}
}

// Work that was passed as often as may be starts first.
func TestPassedWorkGoesFirst(t *testing.T) {
	r := newReallocating(t)
	r.come(0, 9)
	r.want(0, "start 1 ")
	big := r.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU = 2 * grid.CPU })
	now := grid.Time(0)
	for k := range MaxPassed {
		now += minute
		w := r.come(now, 9)
		r.wantTick(now, fmt.Sprintf("start %d ", k+3))
		r.end(now, w)
	}
	r.come(now, 9)
	r.wantTick(now, "suspend 1 start 2 ")
	if big.State != grid.WorkRunning {
		t.Error("it waits still")
	}
}

// Gangs, counted resources and what has no memory are left alone; the ledger is never overdrawn.
func TestReallocationKeepsTheLedger(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newReallocating(t)
		now := grid.Time(0)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			now += grid.Time(rapid.IntRange(1, 300).Draw(rt, "seconds")) * grid.Time(time.Second)
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				if n := len(r.running); n > 0 {
					r.end(now, r.running[rapid.IntRange(0, n-1).Draw(rt, "which")])
				}
			default:
				r.come(now, rapid.IntRange(1, 9).Draw(rt, "bid"), func(s *grid.JobSpec) {
					s.Needs.CPU = grid.CPU * grid.MilliCPU(rapid.IntRange(1, 2).Draw(rt, "cores"))
					s.Needs.Memory = grid.GiB * grid.Bytes(rapid.IntRange(0, 3).Draw(rt, "memory"))
				})
			}
			if rapid.Bool().Draw(rt, "tick") {
				r.tick(now)
			}
			r.next(now)
			used := grid.Resources{}
			for _, w := range r.running {
				need := w.Spec.Needs.Resources
				if r.Suspended(w) {
					need.CPU = 0
				}
				used = used.Plus(need)
			}
			if !r.Capacity().Fits(used) || used.CPU+r.free.CPU != r.Capacity().CPU {
				rt.Fatalf("%v is taken and %v is free of %v", used, r.free, r.Capacity())
			}
		}
	})
}

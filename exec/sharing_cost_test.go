package exec

import (
	"testing"
	"time"

	"skep/grid"
	"skep/internal/cputime"
)

const milliCore = grid.CPU / 1000

func thousandth(s *grid.JobSpec) { s.Needs.CPU = milliCore }

// A look at a long queue, all of which has to be looked at since a lower bid might start, does not cost more where more
// runs.
func TestCostOfSharingIsIndependentOfWhatRuns(t *testing.T) {
	const waiting = 10_000
	cost := func(running int) time.Duration {
		b := shared(t, 1, 0.5)
		for range running {
			b.come(0, 1, thousandth)
		}
		b.next(0)
		for range waiting { // beside the lowest bid at half its speed there is less than a core
			b.come(0, 10)
		}
		if n := len(b.Running()); n != running || b.noCores() {
			t.Fatalf("%d run, want %d, and cores for a low bid", n, running)
		}
		began := cputime.Used()
		for range 10 {
			if w := b.Next(0); w != nil {
				t.Fatalf("%d starts", w.ID.Task.Index)
			}
		}
		return cputime.Used() - began
	}
	few, many := cost(1), cost(900)
	t.Logf("10 looks at %d that wait: %v beside 1, %v beside 900", waiting, few, many)
	if many > 3*few+20*time.Millisecond {
		t.Errorf("%v beside 900 that run, %v beside one", many, few)
	}
}

// Where nothing that waits can start, none of it is looked at.
func TestFullSharedNodeLooksAtNothing(t *testing.T) {
	b := shared(t, 1, 0.2)
	looked := 0
	b.Gate(func(grid.Time, *Work) bool { looked++; return true })
	for range 100 {
		b.come(0, 1)
	}
	if b.next(0); len(b.Running()) != 5 {
		t.Fatalf("%d run, want 5", len(b.Running()))
	}
	looked = 0
	b.Next(0)
	if looked != 0 {
		t.Errorf("the gate was asked %d times, want never", looked)
	}
	b.Finish(id(1), nil)
	if did := b.next(0); did != "start 6 " {
		t.Errorf("%s: want the next to start", did)
	}
	gpu := shared(t, 1, 0.2)
	gpu.capacity.Counts, gpu.free.Counts = "gpu=1", "gpu=1"
	gpu.kinds = kindsOf("gpu=1")
	gpu.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU = 900 * milliCore })
	gpu.next(0)
	gpu.come(0, 1, thousandth, func(s *grid.JobSpec) { s.Needs.Counts = "gpu=1" })
	if did := gpu.next(0); did != "start 2 " {
		t.Errorf("%s: want the small one with a device to start", did)
	}
}

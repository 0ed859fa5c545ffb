package exec

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

func needs(cpu grid.MilliCPU, counts grid.Counts, class string) *grid.Offer {
	o := offer(cpu, 0, class)
	o.Spec.Needs.Counts = counts
	return o
}

// bigNode has 16 cores and the given counted resources.
func bigNode(counts grid.Counts) *Exec {
	return new(New(grid.Resources{CPU: 16 * grid.CPU, Counts: counts}))
}

func ids(list []*Work) (n []uint32) {
	for _, w := range list {
		n = append(n, w.ID.Task.Index)
	}
	return n
}

// startAll starts what may start.
func startAll(e *Exec, now grid.Time) {
	for e.Next(now) != nil {
	}
}

func TestOnlyAsManyTasksAsUnits(t *testing.T) {
	e := bigNode("gpu=2")
	for i := range 5 {
		e.Accept(0, id(i), needs(grid.CPU, "gpu=1", "c"), true)
	}
	startAll(e, 0)
	if len(e.running) != 2 || e.Free() != (grid.Resources{CPU: 14 * grid.CPU}) {
		t.Fatalf("%d run, free %v: want two tasks, and no GPU free", len(e.running), e.Free())
	}
	e.FinishStopping(id(0), &grid.Result{})
	if startAll(e, 0); len(e.running) != 1 {
		t.Fatal("a task started on the GPU of one that is still being stopped")
	}
	e.Stopped(id(0))
	if startAll(e, 0); len(e.running) != 2 || e.running[1].ID != id(2) {
		t.Fatalf("after an end %v run, want the oldest that waits", ids(e.running))
	}
	for _, c := range []struct {
		need grid.Counts
		want grid.Why
	}{{"gpu=2", grid.WhyNone}, {"gpu=3", grid.WhyResource}, {"fpga=1", grid.WhyResource}} {
		got := e.Refuses(grid.Resources{CPU: 1, Counts: c.need})
		if got != c.want || c.want.Never() != (got != grid.WhyNone) {
			t.Errorf("%s: %v, want %v", c.need, got, c.want)
		}
	}
}

// Tasks that need none of what others wait for start before them, however many; smaller ones of the same kind pass a
// bigger one as often as MaxPassed says.
func TestPassingOfTasksThatWaitForUnits(t *testing.T) {
	e := bigNode("gpu=2")
	e.Accept(0, id(0), needs(grid.CPU, "gpu=1", "c"), true)
	startAll(e, 0)
	e.Accept(0, id(1), needs(grid.CPU, "gpu=2", "c"), true)
	e.Accept(0, id(2), needs(grid.CPU, "gpu=2", "c"), true)
	for i := range 3 * MaxPassed {
		e.Accept(0, id(10+i), needs(grid.CPU, "", "c"), true)
		w := e.Next(0)
		if w == nil {
			t.Fatalf("task %d without a GPU waits behind those with one", i)
		}
		e.Finish(w.ID, &grid.Result{})
	}
	for i := range MaxPassed {
		e.Accept(0, id(1000+i), needs(grid.CPU, "gpu=1", "c"), true)
		w := e.Next(0)
		if w == nil {
			t.Fatalf("after %d that passed the other GPU is left idle", i)
		}
		e.Finish(w.ID, &grid.Result{})
	}
	e.Accept(0, id(2000), needs(grid.CPU, "gpu=1", "c"), true)
	e.Accept(0, id(2001), needs(grid.CPU, "", "c"), true)
	if w := e.Next(0); w == nil || w.ID != id(2001) {
		t.Fatalf("%v started, want the one without a GPU: the first has been passed too often", w)
	}
	e.Finish(id(0), &grid.Result{})
	if w := e.Next(0); w == nil || w.ID != id(1) {
		t.Fatalf("with both GPUs free %v started, want the oldest", w)
	}
}

func tenSeconds(string) (mean, scv float64) { return 10, 0 }

// A queue of tasks for one GPU at a node of sixteen cores: the next such task waits for all of them, one without for
// none.
func TestWaitForUnits(t *testing.T) {
	e := bigNode("gpu=1")
	for i := range 5 {
		e.Accept(0, id(i), needs(grid.CPU, "gpu=1", "c"), true)
	}
	startAll(e, 0)
	now := grid.Time(4 * time.Second)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s, want %g", what, got, want)
		}
	}
	gpu := grid.Resources{CPU: grid.CPU, Counts: "gpu=1"}
	near("a task with a GPU", e.Wait(now, gpu, tenSeconds), 6+4*10)
	near("one without", e.Wait(now, grid.Resources{CPU: grid.CPU}, tenSeconds), 0)
	if got := e.KindWaits(now, tenSeconds); got != "gpu=46" {
		t.Errorf("told %q, want 46 s", got)
	}
	var ends []float64
	e.Waits(now, tenSeconds, 64, func(_ *Work, end float64) bool { ends = append(ends, end); return true })
	for i, end := range ends {
		near("the end of one that is queued", end, 6+float64(10*i)+10)
	}
	if len(ends) != 4 {
		t.Errorf("%d wait for a slot, want 4", len(ends))
	}
	ran, rest := e.Ahead(now, 0, gpu, tenSeconds)
	near("the one that runs has run", ran, 4)
	near("and is left", rest, 6)

	// Fifteen more without one are on the other cores: the next without waits for the first of these.
	for i := range 15 {
		e.Accept(now, id(100+i), needs(grid.CPU, "", "c"), true)
	}
	startAll(e, now)
	if len(e.running) != 16 {
		t.Fatalf("%d run", len(e.running))
	}
	if w := e.Wait(now, grid.Resources{CPU: grid.CPU}, tenSeconds); w <= 0 || w > 1 {
		t.Errorf("one without a GPU on a full node: %g s, want less than a second until the first of sixteen ends", w)
	}
	// Sixteen queued ones without are done by the fifteen cores that the tasks with a GPU leave.
	for i := range 15 {
		e.Accept(now, id(200+i), needs(grid.CPU, "", "c"), true)
	}
	near("behind fifteen queued without", e.Wait(now, grid.Resources{CPU: grid.CPU}, tenSeconds)-
		1/(1/6.0+15/10.0), 10)
}

// A task that needs two units waits for the second of those that hold them to end.
func TestWaitForSeveralUnits(t *testing.T) {
	e := bigNode("gpu=2")
	for i := range 2 {
		e.Accept(0, id(i), needs(grid.CPU, "gpu=1", "c"), true)
	}
	startAll(e, 0)
	exponential := func(string) (mean, scv float64) { return 10, 1 }
	for _, c := range []struct {
		need grid.Counts
		want float64
	}{{"gpu=1", 5}, {"gpu=2", 15}} {
		if got := e.Wait(0, grid.Resources{CPU: grid.CPU, Counts: c.need}, exponential); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g s, want %g: the mean of the first, or of the last, of two exponential ends", c.need, got, c.want)
		}
	}
}

// Cores beside work that waits for units are room for other work, and say so to nodes that have some; units are none.
func TestRoomBesideWorkThatWaitsForUnits(t *testing.T) {
	e := bigNode("gpu=1")
	for i := range 100 {
		e.Accept(0, id(i), needs(grid.CPU, "gpu=1", "c"), true)
	}
	startAll(e, 0)
	if room, none := e.Room(64); none || room != (grid.Resources{CPU: 15 * grid.CPU}) {
		t.Errorf("room %v, %v: want fifteen cores, and that work waits", room, none)
	}
	e = bigNode("gpu=2")
	e.Accept(0, id(0), needs(grid.CPU, "gpu=1", "c"), true)
	startAll(e, 0)
	if room, none := e.Room(64); !none || room != (grid.Resources{CPU: 15 * grid.CPU, Counts: "gpu=1"}) {
		t.Errorf("room %v, %v: want fifteen cores and a GPU", room, none)
	}
}

// Nothing of the queue is left in the counters when it is empty.
func TestDemandIsBalanced(t *testing.T) {
	e := bigNode("fpga=1,gpu=2")
	for i := range 20 {
		e.Accept(0, id(i), needs(grid.CPU, []grid.Counts{"gpu=1", "", "fpga=1,gpu=2"}[i%3], "c"), true)
	}
	for range 100 {
		startAll(e, 0)
		if len(e.running) > 0 {
			e.Requeue(e.running[0].ID)
			startAll(e, 0)
			e.Finish(e.running[0].ID, &grid.Result{})
		}
	}
	if e.Queued()+len(e.running) > 0 || e.Free() != e.Capacity() {
		t.Fatalf("%d queued, %d running, free %v", e.Queued(), len(e.running), e.Free())
	}
	for _, c := range e.classes {
		if !c.idle() || c.holds.units != "" {
			t.Errorf("class %s: %+v is left", c.name, *c.holds)
		}
	}
}

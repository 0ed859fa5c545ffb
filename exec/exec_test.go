package exec

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"skep/grid"
)

// Accept is AcceptFrom for what its job's origin hands in.
func (e *Exec) Accept(now grid.Time, id grid.AttemptID, o *grid.Offer, ready bool) *Work {
	return e.AcceptFrom(Owner{Node: id.Task.Job.Origin}, now, id, o, ready)
}

func id(i int) grid.AttemptID {
	job := grid.JobID{Nonce: [10]byte{byte(i), byte(i >> 8), byte(i >> 16)}}
	return grid.AttemptID{Task: grid.TaskID{Job: job, Index: uint32(i)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

func offer(cpu grid.MilliCPU, memory grid.Bytes, class string) *grid.Offer {
	spec := &grid.JobSpec{Needs: grid.Needs{Resources: grid.Resources{CPU: cpu, Memory: memory}}}
	return &grid.Offer{Spec: spec, Class: class}
}

func second(string) (mean, scv float64) { return 1, 0 }

func TestFirstComeFirstServed(t *testing.T) {
	e := new(New(grid.Resources{CPU: 2 * grid.CPU}))
	for i := range 4 {
		e.Accept(0, id(i), offer(grid.CPU, 0, "c"), true)
	}
	for i := range 2 {
		if w := e.Next(0); w == nil || w.ID != id(i) {
			t.Fatalf("start %d: %v", i, w)
		}
	}
	if w := e.Next(0); w != nil {
		t.Fatalf("%v started on a full node", w.ID)
	}
	e.Finish(id(1), &grid.Result{Cause: grid.Exited})
	if w := e.Next(0); w == nil || w.ID != id(2) {
		t.Fatalf("after an end: %v, want the oldest that waits", w)
	}
}

func TestNotReadyIsPassed(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	e.Accept(0, id(0), offer(grid.CPU, 0, "c"), false)
	e.Accept(0, id(1), offer(grid.CPU, 0, "c"), true)
	if w := e.Next(0); w.ID != id(1) {
		t.Fatalf("started %v, want the one whose inputs are here", w.ID)
	}
	e.Ready(id(0))
	e.Finish(id(1), &grid.Result{})
	if w := e.Next(0); w.ID != id(0) {
		t.Fatalf("started %v, want the one whose inputs have come", w.ID)
	}
}

func TestBigTaskIsPassedABoundedNumberOfTimes(t *testing.T) {
	e := new(New(grid.Resources{CPU: 4 * grid.CPU}))
	e.Accept(0, id(0), offer(grid.CPU, 0, "small"), true)
	e.Next(0)
	e.Accept(0, id(1), offer(4*grid.CPU, 0, "big"), true)
	for i := range MaxPassed + 10 {
		e.Accept(0, id(2+i), offer(grid.CPU, 0, "small"), true)
	}
	passed := 0
	for running := id(0); ; {
		w := e.Next(0)
		if w == nil {
			for e.free != e.capacity {
				e.Finish(e.running[0].ID, &grid.Result{})
			}
			if w = e.Next(0); w.ID != id(1) {
				t.Fatalf("an empty node started %v, want the big task", w.ID)
			}
			break
		}
		passed++
		e.Finish(w.ID, &grid.Result{})
		_ = running
	}
	if passed != MaxPassed {
		t.Errorf("passed %d times, want %d", passed, MaxPassed)
	}
}

// There is room for what would pass the work that waits, until that has been passed too often.
func TestRoomBesideBigWork(t *testing.T) {
	e := new(New(grid.Resources{CPU: 4 * grid.CPU}))
	law := func(string) (mean, scv float64) { return 10, 1 }
	e.Accept(0, id(0), offer(3*grid.CPU, 0, "big"), true)
	e.Next(0)
	e.Accept(0, id(1), offer(2*grid.CPU, 0, "big"), true)
	if w := e.Next(0); w != nil {
		t.Fatalf("%v starts on one core, want none", w)
	}
	one := grid.Resources{CPU: grid.CPU}
	for i := range MaxPassed + 2 {
		room, none := e.Room(64)
		want := one
		if i >= MaxPassed {
			want = grid.Resources{}
		}
		if room != want || none {
			t.Fatalf("after %d that passed: room %v, %v; want %v, and that work waits", i, room, none, want)
		}
		if wait := e.Wait(0, one, law); wait <= 0 || wait < 1 != (i < MaxPassed) {
			t.Fatalf("after %d that passed: a small task waits for %v s", i, wait)
		}
		if e.Wait(0, grid.Resources{CPU: 2 * grid.CPU}, law) < 1 {
			t.Fatal("a task that does not fit would not wait")
		}
		a := id(2 + i)
		e.Accept(0, a, offer(grid.CPU, 0, "small"), true)
		if w := e.Next(0); w != nil != (i < MaxPassed) {
			t.Fatalf("after %d that passed: started %v", i, w)
		}
		e.Finish(a, &grid.Result{})
	}
}

// However much work waits that is too big for what is free, that is room; unless some of it might be small enough.
func TestRoomBesideMuchBigWork(t *testing.T) {
	e := new(New(grid.Resources{CPU: 4 * grid.CPU}))
	for i := range 200 {
		e.Accept(0, id(i), offer(3*grid.CPU, 0, "big"), true)
	}
	e.Next(0)
	if room, none := e.Room(64); room != (grid.Resources{CPU: grid.CPU}) || none {
		t.Errorf("room %v, %v: want the core that is free, and that work waits", room, none)
	}
	e.Accept(0, id(200), offer(grid.CPU, 0, "big"), false)
	if room, _ := e.Room(64); room != (grid.Resources{}) {
		t.Errorf("room %v, which the last of the queue is about to take", room)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		need  grid.Resources
		setup func(*Exec)
		want  grid.Why
	}{
		{grid.Resources{CPU: grid.CPU}, func(*Exec) {}, grid.WhyNone},
		{grid.Resources{CPU: 3 * grid.CPU}, func(*Exec) {}, grid.WhyCPU},
		{grid.Resources{CPU: 1, Memory: grid.GiB + 1}, func(*Exec) {}, grid.WhyMemory},
		{grid.Resources{CPU: 1}, func(e *Exec) { e.Drain(true) }, grid.WhyDrain},
		{grid.Resources{CPU: 1}, func(e *Exec) { e.LowDisk(true) }, grid.WhyDisk},
		{grid.Resources{CPU: 1}, func(e *Exec) {
			for i := range MaxQueue {
				e.Accept(0, id(i), offer(1, 0, "c"), true)
			}
		}, grid.WhyQueue},
	} {
		e := new(New(grid.Resources{CPU: 2 * grid.CPU, Memory: grid.GiB}))
		c.setup(e)
		if got := e.Refuses(c.need); got != c.want {
			t.Errorf("need %v: %q, want %q", c.need, got, c.want)
		}
	}
}

// With one slot the expected wait plus the task's own time is the expected completion time of [1]: the sum of the mean
// run times of all work before it, a running task in full if it has just begun.
func TestWaitOneSlot(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	law := func(c string) (mean, scv float64) { return map[string]float64{"a": 2, "b": 5}[c], 0 }
	need := grid.Resources{CPU: grid.CPU}
	if w := e.Wait(0, need, law); w != 0 {
		t.Fatalf("idle: %g, want 0", w)
	}
	e.Accept(0, id(0), offer(grid.CPU, 0, "a"), true)
	e.Next(0)
	e.Accept(0, id(1), offer(grid.CPU, 0, "b"), true)
	e.Accept(0, id(2), offer(grid.CPU, 0, "a"), true)
	if w := e.Wait(0, need, law); w != 2+5+2 {
		t.Errorf("just begun: %g, want 9", w)
	}
	if w := e.Wait(1e9, need, law); w != 1+5+2 {
		t.Errorf("after one second: %g, want 8", w)
	}
	e.CountWhole(true)
	for _, at := range []grid.Time{0, 1e9, 20e9} {
		if w := e.Wait(at, need, law); w != 2+5+2 || e.Mean(at, "a", law) != 2 {
			t.Errorf("whole, at %v: %g, want 9 whatever the age", at, w)
		}
	}
}

// Passed and remaining time of the running task are all of its mean; nothing is before a task that fits.
func TestAhead(t *testing.T) {
	e := new(New(grid.Resources{CPU: 2 * grid.CPU}))
	need := grid.Resources{CPU: 2 * grid.CPU}
	law := func(string) (mean, scv float64) { return 8, 0 }
	e.Accept(0, id(0), offer(2*grid.CPU, 0, "a"), true)
	if ran, rest := e.Ahead(0, 0, need, law); ran != 0 || rest != 0 {
		t.Errorf("idle: %g and %g, want 0", ran, rest)
	}
	e.Next(0)
	if ran, rest := e.Ahead(3e9, 0, need, law); ran != 3 || rest != 5 {
		t.Errorf("after 3 of 8 s: %g behind and %g left", ran, rest)
	}
}

func TestWaitManySlots(t *testing.T) {
	e := new(New(grid.Resources{CPU: 4 * grid.CPU}))
	need := grid.Resources{CPU: grid.CPU}
	for i := range 4 {
		e.Accept(0, id(i), offer(grid.CPU, 0, "c"), true)
		e.Next(0)
	}
	if w := e.Wait(0, need, second); w != 0.25 {
		t.Errorf("full: %g, want a quarter of a run", w)
	}
	for i := range 4 {
		e.Accept(0, id(4+i), offer(grid.CPU, 0, "c"), true)
	}
	if w := e.Wait(0, need, second); w != 1.25 {
		t.Errorf("full, and four wait: %g, want 1.25 runs", w)
	}
}

// After any sequence of accepts, starts, ends and forgets, free and running resources add up to the capacity, and
// every attempt is in one list.
func TestLedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := new(New(grid.Resources{CPU: 4 * grid.CPU, Memory: grid.GiB}))
		n := 0
		some := func(t *rapid.T) grid.AttemptID { return id(rapid.IntRange(0, max(n-1, 0)).Draw(t, "id")) }
		t.Repeat(map[string]func(*rapid.T){
			"accept": func(t *rapid.T) {
				o := offer(grid.MilliCPU(rapid.IntRange(1, 4000).Draw(t, "cpu")),
					grid.Bytes(rapid.IntRange(0, int(grid.GiB)).Draw(t, "mem")), fmt.Sprint(n%100))
				if e.Refuses(o.Spec.Needs.Resources) == grid.WhyNone {
					e.Accept(0, id(n), o, rapid.Bool().Draw(t, "ready"))
					n++
				}
			},
			"ready":   func(t *rapid.T) { e.Ready(some(t)) },
			"next":    func(t *rapid.T) { e.Next(0) },
			"finish":  func(t *rapid.T) { e.Finish(some(t), &grid.Result{}) },
			"cut":     func(t *rapid.T) { e.FinishStopping(some(t), &grid.Result{}) },
			"forget":  func(t *rapid.T) { e.Forget(some(t)) },
			"stopped": func(t *rapid.T) { e.Stopped(some(t)) },
			"late":    func(t *rapid.T) { e.Requeue(some(t)) },
			"": func(t *rapid.T) {
				used := grid.Resources{}
				for _, w := range e.Running() {
					used = used.Plus(w.Spec.Needs.Resources)
				}
				for _, h := range e.stopping {
					used = used.Plus(h.need)
				}
				if used.Plus(e.Free()) != e.capacity {
					t.Fatalf("running or stopping %v, free %v, capacity %v", used, e.Free(), e.capacity)
				}
				known := 0
				for i := range n {
					if w := e.Get(id(i)); w != nil && w.ID == id(i) && e.specOf(w.ID.Task.Job) == w.shared {
						known++
					}
				}
				if got := len(e.Queue()) + len(e.Running()) + len(e.Finished()); got != known {
					t.Fatalf("%d in the lists, %d known", got, known)
				}
				queued := int64(0)
				for _, w := range e.Queue() {
					queued += int64(w.Spec.Needs.CPU)
				}
				for _, c := range e.classes {
					queued -= c.queued
				}
				if queued != 0 {
					t.Fatalf("the counters of the classes are off by %d", queued)
				}
			},
		})
	})
}

// The attempts of one job share one spec, which is released with the last one.
func TestAttemptsOfAJobShareItsDescription(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	a, b := id(0), id(0)
	b.Task.Index = 1
	x := e.Accept(0, a, offer(grid.CPU, 0, "c"), true)
	y := e.Accept(0, b, offer(grid.CPU, 0, "c"), true)
	if x.Spec != y.Spec {
		t.Error("two descriptions of one job are kept")
	}
	e.Forget(a)
	e.Forget(b)
	if e.specOf(a.Task.Job) != nil || e.freeSpec == nil {
		t.Error("the description outlives the attempts")
	}
}

func TestWaitNoticesLongerTasks(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	short := func(string) (mean, scv float64) { return 0.001, 0 }
	for i := range 2 {
		e.Accept(0, id(i), offer(grid.CPU, 0, "c"), true)
	}
	e.Next(0)
	need := grid.Resources{CPU: grid.CPU}
	if w := e.Wait(4e9, need, short); w < 7 || w > 9 {
		t.Errorf("one has run for 4 s and one waits: %g s, want about 4 for each", w)
	}
	if m := e.Mean(4e9, "c", short); m != 4 {
		t.Errorf("mean %g, want the age of what runs", m)
	}
	if m := e.Mean(4e9, "other", short); m != 0.001 {
		t.Errorf("mean of another class %g, want what was measured", m)
	}
}

// A stopping attempt holds its resources until it has stopped.
func TestStoppingAttemptHoldsResources(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	law := func(string) (mean, scv float64) { return 10, 0 }
	need := grid.Resources{CPU: grid.CPU}
	end := []func(grid.AttemptID){func(a grid.AttemptID) { e.Forget(a) },
		func(a grid.AttemptID) { e.FinishStopping(a, &grid.Result{}) }}
	for i, stop := range end {
		first, second := id(2*i), id(2*i+1)
		e.Accept(0, first, offer(grid.CPU, 0, "c"), true)
		e.Next(0)
		e.Accept(0, second, offer(grid.CPU, 0, "c"), true)
		stop(first)
		if w := e.Next(0); w != nil || e.Stopping() != 1 || e.Free().CPU != 0 {
			t.Fatalf("%d: %v starts beside what is being stopped, free %v", i, w, e.Free())
		}
		if w := e.Wait(0, need, law); w < 10 || w > 11 {
			t.Errorf("%d: behind it and the one that waits: %g s, want its end and 10 s", i, w)
		}
		if e.Stopped(second) || !e.Stopped(first) || e.Stopped(first) {
			t.Errorf("%d: not the one that was told to end, once", i)
		}
		if w := e.Next(0); w == nil || w.ID != second {
			t.Errorf("%d: %v starts, want the one that waited", i, w)
		}
		e.Finish(second, &grid.Result{})
	}
}

// A requeued attempt is the next to start, and its resources are free meanwhile.
func TestRequeued(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	for i := range 2 {
		e.Accept(0, id(i), offer(grid.CPU, 0, "c"), true)
	}
	e.Next(0)
	if e.Requeue(id(1)) != nil {
		t.Error("what waits was put back")
	}
	if w := e.Requeue(id(0)); w == nil || e.Free() != e.capacity || len(e.Queue()) != 2 {
		t.Fatalf("%v, %v free, %d wait", w, e.Free(), len(e.Queue()))
	}
	if w := e.Next(1); w == nil || w.ID != id(0) {
		t.Errorf("%v starts, want what was to start before", w)
	}
}

package exec

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/balance/order"
	"skep/grid"
)

const minute = grid.Time(time.Minute)

// preempting is a node of two cores that suspends for a bid twice as high.
func preempting(t testing.TB) *bidding {
	e := new(New(grid.Resources{CPU: 2 * grid.CPU, Memory: 4 * grid.GiB}))
	cfg := order.Defaults()
	cfg.Rule, cfg.Preempt = "bid", 2
	e.OrderBy(&cfg, second)
	return &bidding{Exec: e, t: t}
}

type bidding struct {
	*Exec
	t testing.TB
	n int
}

// come accepts work of a core that bids so many times what is usual.
func (b *bidding) come(now grid.Time, bid int, change ...func(*grid.JobSpec)) *Work {
	b.Advance(now)
	o := offer(grid.CPU, 0, "c")
	o.Spec.Rules.Bid = grid.Bid(bid) * grid.UsualBid
	for _, f := range change {
		f(o.Spec)
	}
	b.n++
	return b.Accept(now, id(b.n), o, true)
}

// next lets happen what can, and says it.
func (b *bidding) next(now grid.Time) (did string) {
	b.Advance(now)
	resume := func(anyway bool) {
		for w := b.Resume(now, anyway); w != nil; w = b.Resume(now, anyway) {
			did += fmt.Sprintf("resume %d ", w.ID.Task.Index)
		}
	}
	resume(false)
	for {
		for w := b.Next(now); w != nil; w = b.Next(now) {
			did += fmt.Sprintf("start %d ", w.ID.Task.Index)
		}
		w, victims := b.StartSuspending(now)
		if w == nil {
			break
		}
		for _, v := range victims {
			did += fmt.Sprintf("suspend %d ", v.ID.Task.Index)
		}
		did += fmt.Sprintf("start %d ", w.ID.Task.Index)
	}
	resume(true)
	return did
}

func (b *bidding) want(now grid.Time, want string) {
	b.t.Helper()
	if did := b.next(now); did != want {
		b.t.Fatalf("at %v: %q, want %q", time.Duration(now), did, want)
	}
}

func (b *bidding) end(now grid.Time, w *Work) {
	b.Advance(now)
	b.Finish(w.ID, &grid.Result{Cause: grid.Exited})
}

func TestHigherBidsSuspendTheLowestOnes(t *testing.T) {
	b := preempting(t)
	one, three := b.come(0, 1), b.come(0, 3)
	b.want(0, "start 2 start 1 ")
	b.come(minute, 1)
	b.want(minute, "") // as high: it waits
	five := b.come(minute, 5)
	b.want(minute, "suspend 1 start 4 ")
	if s := b.SuspensionsOf(one); !b.Suspended(one) || s.By != five.ID.Task.Job || s.Bid != five.Spec.Bid() {
		t.Errorf("suspended %v: %+v", b.Suspended(one), s)
	}
	b.come(minute, 5)
	b.want(minute, "") // less than twice 3
	b.come(minute, 6)
	b.want(minute, "suspend 2 start 6 ")
	b.end(2*minute, five)
	b.want(2*minute, "resume 2 ") // a bid of 5 would not suspend a bid of 3, and what was suspended goes before it
	b.end(3*minute, three)
	b.want(3*minute, "start 5 ") // before 1, which it would suspend
	if d := b.age(3*minute, one); d != time.Minute {
		t.Errorf("it has run for %v, want 1m", d)
	}
	if n := b.Suspensions(); n != 2 {
		t.Errorf("%d suspensions, want 2", n)
	}
}

// Memory stays taken, and counted resources: for those nothing is suspended, nor what has them.
func TestSuspensionFreesCoresAlone(t *testing.T) {
	b := preempting(t)
	memory := func(s *grid.JobSpec) { s.Needs.Memory = 3 * grid.GiB }
	b.come(0, 1, memory)
	b.come(0, 1, func(s *grid.JobSpec) { s.Gang = grid.Gang{Ranks: 2} })
	b.want(0, "start 1 start 2 ")
	big := b.come(minute, 9, memory)
	b.want(minute, "")
	b.Forget(big.ID)
	b.come(minute, 9)
	b.want(minute, "suspend 1 start 4 ")
	if b.Free() != (grid.Resources{Memory: grid.GiB}) {
		t.Errorf("free %v", b.Free())
	}
	b.come(minute, 9)
	b.want(minute, "") // the rank of a gang goes on

	b = preempting(t)
	b.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU, s.Needs.Pin = 2*grid.CPU, true })
	b.want(0, "start 1 ")
	b.come(minute, 9)
	b.want(minute, "") // it keeps its processors
}

// However many higher bids come, work is suspended three times at most, and goes on after ten minutes of it.
func TestTheLowestBidEnds(t *testing.T) {
	b := preempting(t)
	low, other := b.come(0, 1), b.come(0, 10)
	b.want(0, "start 2 start 1 ")
	now := minute
	for range 3 {
		high := b.come(now, 9)
		b.want(now, fmt.Sprintf("suspend 1 start %d ", high.ID.Task.Index))
		now += minute
		b.end(now, high)
		b.want(now, "resume 1 ")
		now += minute
	}
	b.come(now, 9)
	b.want(now, "")
	b.end(now, low)
	b.end(now, other)

	b = preempting(t)
	low, other = b.come(0, 1), b.come(0, 10)
	b.want(0, "start 2 start 1 ")
	high := b.come(1, 9)
	b.want(1, "suspend 1 start 3 ")
	for now = minute; now < 10*minute; now += minute {
		b.end(now, high)
		high = b.come(now, 9)
		b.want(now, fmt.Sprintf("start %d ", high.ID.Task.Index)) // 1 would be suspended again
	}
	b.end(now+1, high)
	b.come(now+1, 9)
	b.want(now+1, "resume 1 ")
	b.want(20*minute, "")
	b.end(20*minute, low)
	_ = other
}

// What was suspended for too long keeps others from the cores that it needs.
func TestOverdueWorkIsWaitedFor(t *testing.T) {
	b := preempting(t)
	b.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU = 2 * grid.CPU })
	b.want(0, "start 1 ")
	x, y := b.come(1, 9), b.come(1, 9)
	b.want(1, "suspend 1 start 2 start 3 ")
	b.end(11*minute, x)
	b.come(11*minute, 9)
	b.want(11*minute, "")
	need := grid.Resources{CPU: grid.CPU}
	room, none := b.Room(10)
	if wait := b.WaitOf(11*minute, order.Key{}, need, second); room.CPU > 0 || none || b.Free().CPU > 0 || wait == 0 ||
		b.Hold(need) {
		t.Error("its core counts as free")
	}
	b.end(11*minute, y)
	b.want(11*minute, "resume 1 ")
}

// A rank that has its slot starts beside work that is waited for.
func TestHeldSlotsAreNoPartOfWhatOverdueWorkWaitsFor(t *testing.T) {
	b := preempting(t)
	b.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU = 2 * grid.CPU })
	b.want(0, "start 1 ")
	x, y := b.come(1, 9), b.come(1, 9)
	b.want(1, "suspend 1 start 2 start 3 ")
	b.end(minute, x)
	if !b.Hold(grid.Resources{CPU: grid.CPU}) {
		t.Fatal("no slot is free")
	}
	o := offer(grid.CPU, 0, "c")
	o.Spec.Gang = grid.Gang{Ranks: 2}
	rank := b.AcceptHeld(Owner{}, minute, id(99), o, true)
	b.end(11*minute, y)
	b.want(11*minute, "start 99 ")
	b.end(12*minute, rank)
	b.want(12*minute, "resume 1 ")
}

// Suspending opens no way past wide work that has been passed often enough.
func TestSuspendingPassesABoundedNumberOfTimes(t *testing.T) {
	b := preempting(t)
	b.come(0, 1)
	b.come(0, 1)
	b.next(0)
	wide := b.come(1, 1, func(s *grid.JobSpec) { s.Needs.CPU = 2 * grid.CPU })
	now := minute
	for n := 0; wide.State == grid.WorkQueued; n++ {
		if n > 2*MaxPassed {
			t.Fatalf("not started after %d others", n)
		}
		now += minute
		b.come(now, 1)
		b.end(now, b.Running()[0])
		b.next(now)
	}
}

// A suspended attempt that is told to end, or is dropped, gives back what it has: the ledger panics otherwise.
func TestEndsOfSuspendedWork(t *testing.T) {
	for name, end := range map[string]func(*bidding, *Work){
		"finish":   func(b *bidding, w *Work) { b.Finish(w.ID, &grid.Result{}) },
		"forget":   func(b *bidding, w *Work) { id := w.ID; b.Forget(id); b.Stopped(id) },
		"stopping": func(b *bidding, w *Work) { b.FinishStopping(w.ID, &grid.Result{}); b.Stopped(w.ID) },
		"requeue":  func(b *bidding, w *Work) { b.Requeue(w.ID); b.Forget(w.ID) },
	} {
		b := preempting(t)
		low := b.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU, s.Needs.Memory = 2*grid.CPU, grid.GiB })
		b.want(0, "start 1 ")
		high := b.come(1, 9)
		b.want(1, "suspend 1 start 2 ")
		end(b, low)
		b.end(1, high)
		b.want(1, "")
		if b.Free() != b.Capacity() || len(b.suspended.list) > 0 {
			t.Errorf("%s: free %v of %v, %d kept", name, b.Free(), b.Capacity(), len(b.suspended.list))
		}
	}
}

// A task that would have others suspended is expected to start at once.
func TestWaitOfAHigherBid(t *testing.T) {
	b := preempting(t)
	for range 6 {
		b.come(0, 1)
	}
	b.next(0)
	need := grid.Resources{CPU: grid.CPU}
	for bid, want := range map[int]bool{1: false, 2: true} {
		key := order.Key{Bid: grid.Bid(bid) * grid.UsualBid}
		if w := b.WaitOf(1, key, need, second); (w == 0) != want {
			t.Errorf("bid %d: waits for %v s", bid, w)
		}
	}
	b.come(1, 3)
	if w := b.WaitOf(1, order.Key{Bid: 2 * grid.UsualBid}, need, second); w == 0 {
		t.Error("a higher bid waits, and it is not counted")
	}
}

// Whatever comes and ends: nothing runs beside what it has suspended beyond the capacity, everything ends, and no
// attempt is suspended more often than it may be. (rapid prints how to repeat a failure.)
func TestSuspensionsOfRandomWork(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := preempting(t)
		times := make(map[uint32]int)
		ended := 0
		now := grid.Time(0)
		step := func() {
			for _, w := range b.Running() {
				if x := b.suspended.of(w); x != nil {
					times[w.ID.Task.Index] = max(times[w.ID.Task.Index], x.times)
				}
			}
			b.next(now)
			used := grid.MilliCPU(0)
			for _, w := range b.Running() {
				if !b.Suspended(w) {
					used += w.Spec.Needs.CPU
				}
			}
			if used+b.free.CPU != b.Capacity().CPU {
				rt.Fatalf("%v of cores run and %v are free", used, b.free.CPU)
			}
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			now += grid.Time(rapid.IntRange(0, 200).Draw(rt, "seconds")) * grid.Time(time.Second)
			if runs := b.Running(); len(runs) > 0 && rapid.Bool().Draw(rt, "end") {
				at := rapid.IntRange(0, len(runs)-1).Draw(rt, "which")
				if !b.Suspended(runs[at]) {
					b.end(now, runs[at])
					ended++
				}
			} else {
				b.come(now, rapid.IntRange(1, 10).Draw(rt, "bid"), func(s *grid.JobSpec) {
					s.Needs.CPU = grid.MilliCPU(rapid.IntRange(1, 2).Draw(rt, "cores")) * grid.CPU
				})
			}
			step()
		}
		for ended < b.n {
			at := slices.IndexFunc(b.Running(), func(w *Work) bool { return !b.Suspended(w) })
			if at < 0 {
				rt.Fatalf("%d of %d have ended, and nothing runs", ended, b.n)
			}
			now += minute
			b.end(now, b.Running()[at])
			ended++
			step()
		}
		for i, n := range times {
			if n > 3 {
				rt.Fatalf("%d was suspended %d times", i, n)
			}
		}
	})
}

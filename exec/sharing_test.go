package exec

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/balance/order"
	"skep/grid"
)

// shared is a node of so many cores whose work shares them, at a least speed.
func shared(t testing.TB, cores grid.MilliCPU, least float64) *bidding {
	e := new(New(grid.Resources{CPU: cores * grid.CPU, Memory: 4 * grid.GiB}))
	cfg := order.Defaults()
	cfg.Rule, cfg.LeastSpeed = "bid", least
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	e.OrderBy(&cfg, second)
	return &bidding{Exec: e, t: t}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Bids of 1, 2 and 4 have a seventh, two and four sevenths of a core, and work as much in a time.
func TestBidsShareACore(t *testing.T) {
	b := shared(t, 1, 0.1)
	one, two, four := b.come(0, 1), b.come(0, 2), b.come(0, 4)
	if did := b.next(0); did != "start 3 start 2 start 1 " {
		t.Fatalf("%s: want all to start, the highest bid first", did)
	}
	if f := b.Free(); f.CPU != 0 {
		t.Errorf("%v cores are free, want none", f.CPU)
	}
	now := 7 * minute
	for w, want := range map[*Work]float64{one: 60, two: 120, four: 240} {
		if got := b.RunTime(now, w); !near(got, want) {
			t.Errorf("%d has run for %v s, want %v", w.ID.Task.Index, got, want)
		}
	}
	b.Advance(now)
	b.Finish(four.ID, nil) // then a third and two thirds
	if got := b.RunTime(now+3*minute, two); !near(got, 120+120) {
		t.Errorf("then 2 has run for %v s, want 240", got)
	}
	b.SetCoreShare(now+3*minute, 0.5) // others have half of it
	if got := b.RunTime(now+6*minute, two); !near(got, 240+60) {
		t.Errorf("beside others 2 has run for %v s, want 300", got)
	}
	for _, w := range []*Work{one, two, four} {
		if got, want := b.Weight(w), b.bid(w).Number()/10; got != want {
			t.Errorf("weight %v, want %v of the highest bid", got, want)
		}
	}
}

// What would make one run slower than the least speed waits, and starts as soon as it does not.
func TestLeastSpeed(t *testing.T) {
	b := shared(t, 1, 0.25)
	for range 5 {
		b.come(0, 1)
	}
	if did := b.next(0); did != "start 1 start 2 start 3 start 4 " {
		t.Fatalf("%s: want four to start, each at a quarter of its speed", did)
	}
	b.come(0, 4) // it would have half of the core, and the others an eighth
	if did := b.next(0); did != "" {
		t.Errorf("%s: want nothing to start", did)
	}
	for n := 1; n <= 3; n++ {
		b.Finish(id(n), nil)
	}
	if did := b.next(0); did != "start 5 " { // beside 4/5 the other one would have 1/5
		t.Errorf("%s: want the other of the same bid to pass the higher one", did)
	}
	b.Finish(id(4), nil)
	b.Finish(id(5), nil)
	if did := b.next(0); did != "start 6 " { // which the bid of 1 would be too slow beside
		t.Errorf("%s: want the highest bid", did)
	}
}

// The bigger of two that wait is passed a bounded number of times, also where the cores are shared.
func TestSharedCoresStarveNothing(t *testing.T) {
	b := shared(t, 2, 1)
	b.come(0, 1)
	b.next(0)
	big := b.come(0, 1, func(s *grid.JobSpec) { s.Needs.CPU = 2 * grid.CPU })
	for n := 0; big.State == grid.WorkQueued; n++ {
		w := b.come(grid.Time(n)*minute, 1)
		if b.next(grid.Time(n) * minute); w.State == grid.WorkQueued {
			for _, r := range b.Running() {
				b.Finish(r.ID, nil)
			}
			b.next(grid.Time(n) * minute)
			if big.State != grid.WorkRunning || n > MaxPassed {
				t.Errorf("after %d others it is in state %v", n, big.State)
			}
			return
		}
		b.Finish(w.ID, nil)
	}
}

// Memory and counted resources are not shared.
func TestMemoryIsNotShared(t *testing.T) {
	b := shared(t, 1, 0.1)
	three := func(s *grid.JobSpec) { s.Needs.Memory = 3 * grid.GiB }
	b.come(0, 1, three)
	b.come(0, 1, three)
	if did := b.next(0); did != "start 1 " {
		t.Errorf("%s: want one to start", did)
	}
	e := new(New(grid.Resources{CPU: grid.CPU, Counts: "gpu=1"}))
	cfg := order.Defaults()
	cfg.LeastSpeed = 0.1
	e.OrderBy(&cfg, second)
	b = &bidding{Exec: e, t: t}
	gpu := func(s *grid.JobSpec) { s.Needs.Counts = "gpu=1" }
	b.come(0, 1, gpu)
	b.come(0, 1, gpu)
	b.come(0, 1)
	if did := b.next(0); did != "start 1 start 3 " {
		t.Errorf("%s: want one of those with a device to start, and the third", did)
	}
}

// What a node says of a completion time is for the bid asked: its speed beside what runs.
func TestSpeedIsOfTheBid(t *testing.T) {
	b := shared(t, 1, 0.1)
	b.come(0, 1)
	b.come(0, 2)
	b.next(0)
	for bid, want := range map[grid.Bid]float64{1000: 1. / 4, 2000: 2. / 5, 7000: 7. / 10, 99_000: 0.1} {
		// the last counts as 10, beside which a bid of 1 would have 1/13, so it waits
		if got := b.SpeedOf(bid, grid.CPU); !near(got, want) {
			t.Errorf("a bid of %v runs at %v, want %v", bid, got, want)
		}
	}
	if e := shared(t, 1, 0.1); e.SpeedOf(1, grid.CPU) != 1 {
		t.Error("alone the lowest bid runs at less than full speed")
	}
	if e := preempting(t); e.SpeedOf(1000, grid.CPU) != 1 || e.Weight(e.come(0, 1)) != 0 {
		t.Error("what has cores to itself shares them")
	}
}

// What is told to end has its part of the cores until nothing of it runs any more.
func TestWhatStopsSharesStill(t *testing.T) {
	b := shared(t, 1, 0.5)
	first, second := b.come(0, 1), b.come(0, 1)
	b.next(0)
	b.FinishStopping(first.ID, nil)
	b.come(0, 1)
	if did := b.next(minute); did != "" || !near(b.RunTime(minute, second), 30) {
		t.Errorf("%s, the second has run for %v s: want no start, and 30", did, b.RunTime(minute, second))
	}
	b.Stopped(first.ID)
	if did := b.next(minute); did != "start 3 " {
		t.Errorf("%s: want the third to start", did)
	}
}

// The time that a task would have taken with its core to itself rests on what it has used of it.
func TestAlone(t *testing.T) {
	for _, c := range []struct{ used, want time.Duration }{
		{15 * time.Second, 15 * time.Second},        // a quarter of a minute: all that it had
		{0, time.Minute},                            // it has slept
		{5 * time.Second, 45 * time.Second},         // each second took four
		{time.Minute, time.Minute},                  // the others slept
		{2 * time.Minute, time.Minute},              // with further threads
		{58 * time.Second, 58 * time.Second},        // nearly alone
		{20 * time.Second, 20 * time.Second},        // more than a quarter: it can have lost 40 at most
		{14900 * time.Millisecond, 15300 * 1000000}, // 60 − 14.9·3
	} {
		b := shared(t, 1, 0.1)
		w := b.come(0, 1)
		for range 3 {
			b.come(0, 1)
		}
		b.next(0)
		if got := b.Alone(minute, w, c.used); !near(got, c.want.Seconds()) {
			t.Errorf("%v of processor time in a minute at a quarter: %v s alone, want %v", c.used, got, c.want)
		}
	}
}

// Whatever comes and ends, nobody runs below the least speed, what could run does not wait, and the ledger is right.
func TestSharingIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]float64{0.05, 0.2, 0.5, 1}).Draw(t, "least")
		b := shared(&testing.T{}, grid.MilliCPU(rapid.IntRange(1, 4).Draw(t, "cores")), least)
		now := grid.Time(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "seconds")) * time.Second)
			b.Advance(now)
			if n := len(b.Running()); n > 0 && rapid.Bool().Draw(t, "ends") {
				w := b.Running()[rapid.IntRange(0, n-1).Draw(t, "which")]
				if rapid.Bool().Draw(t, "slowly") {
					b.FinishStopping(w.ID, nil)
				} else {
					b.Finish(w.ID, nil)
				}
			} else if len(b.stopping) > 0 && rapid.Bool().Draw(t, "stopped") {
				b.Stopped(b.stopping[0].id)
			} else {
				need := grid.MilliCPU(rapid.IntRange(100, int(b.Capacity().CPU)).Draw(t, "need"))
				b.come(now, rapid.IntRange(1, 12).Draw(t, "bid"), func(s *grid.JobSpec) { s.Needs.CPU = need })
			}
			b.next(now)
			used := 0.0
			for _, w := range b.Running() {
				speed, _ := b.shareOf(now, w)
				if used += speed * w.Spec.Needs.CPU.Cores(); speed < least-1e-6 && len(b.Running())+len(b.stopping) > 1 {
					t.Fatalf("%d runs at %v, less than %v", w.ID.Task.Index, speed, least)
				}
			}
			if most := b.Capacity().CPU.Cores(); used > most+1e-6 {
				t.Fatalf("%v cores are used of %v", used, most)
			}
			if len(b.Running()) == 0 && b.Queued() > 0 && len(b.stopping) == 0 {
				t.Fatal("work waits beside nothing")
			}
			if b.Free().CPU < 0 {
				t.Fatalf("%v is free", b.Free())
			}
		}
	})
}

func ExampleExec_SpeedOf() {
	b := shared(&testing.T{}, 2, 0.2)
	for range 3 {
		b.come(0, 1)
	}
	b.next(0)
	fmt.Printf("%.2f %.2f\n", b.SpeedOf(grid.UsualBid, grid.CPU), b.SpeedOf(4*grid.UsualBid, grid.CPU))
	// Output: 0.50 1.00
}

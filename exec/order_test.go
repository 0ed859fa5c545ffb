package exec

import (
	"testing"
	"time"

	"skep/balance/order"
	"skep/grid"
	"skep/internal/cputime"
)

func orderBy(rule string) *order.Config {
	c := order.Defaults()
	c.Rule = rule
	return &c
}

// come queues a task of a node's job.
func come(e *Exec, now grid.Time, node byte, n int, bid grid.Bid, need grid.MilliCPU, class string) *Work {
	o := offer(need, 0, class)
	o.Spec.Rules.Bid = bid
	o.ID = id(n)
	o.ID.Task.Job = grid.JobID{Origin: grid.NodeID{node}, Nonce: [10]byte{byte(bid / 100), byte(need), class[0]}}
	return e.Accept(now, o.ID, o, true)
}

// The highest bid starts first, and what does not fit is passed by what does, of any line, a bounded number of times.
func TestHighestBidStartsFirst(t *testing.T) {
	e := new(New(grid.Resources{CPU: 2 * grid.CPU}))
	e.OrderBy(orderBy("fair"), second)
	come(e, 0, 1, 0, 1000, grid.CPU, "c")
	first := e.Next(0)
	come(e, 0, 1, 1, 1000, grid.CPU, "c")
	come(e, 0, 2, 2, 4000, 2*grid.CPU, "c") // does not fit
	come(e, 0, 3, 3, 2000, grid.CPU, "c")
	if w := e.Next(0); w == nil || w.ID.Task.Index != 3 {
		t.Fatalf("%v starts, want 3: it fits and bids more than 1", w)
	} else {
		e.Finish(w.ID, nil)
	}
	for n := 10; n < 10+2*MaxPassed; n++ {
		come(e, 0, 3, n, 2000, grid.CPU, "c")
	}
	starts := 0
	for w := e.Next(0); w != nil; w = e.Next(0) {
		starts++
		e.Finish(w.ID, nil)
	}
	if starts != MaxPassed-1 {
		t.Errorf("%d more pass the first, want %d", starts, MaxPassed-1)
	}
	e.Finish(first.ID, nil)
	if w := e.Next(0); w == nil || w.ID.Task.Index != 2 {
		t.Errorf("%v starts, want 2", w)
	}
}

// What a node is told of its wait counts what goes before its bid.
func TestWaitIsOfTheBid(t *testing.T) {
	for rule, want := range map[string][3]float64{"fair": {10, 30, 0}, "fifo": {30, 30, 30}, "bid": {10, 30, 0}} {
		e := new(New(grid.Resources{CPU: grid.CPU}))
		e.OrderBy(orderBy(rule), second)
		come(e, 0, 1, 0, 1000, grid.CPU, "c")
		running := e.Next(0)
		for n := range 10 {
			come(e, 0, 1, 1+n, 4000, grid.CPU, "c")
			come(e, 0, 1, 101+n, 1000, grid.CPU, "c")
			come(e, 0, 1, 201+n, 1000, grid.CPU, "c")
		}
		rest := 1.0
		for i, bid := range []grid.Bid{2000, 1000, 9000} {
			key := order.Key{Bid: bid, Node: grid.NodeID{1}, Class: "c"}
			if got := e.WaitOf(0, key, running.Spec.Needs.Resources, second); got < want[i] || got > want[i]+rest {
				t.Errorf("%s, bid %v: a wait of %g s, want %g and the rest of what runs", rule, bid, got, want[i])
			}
		}
		if got := e.Wait(0, running.Spec.Needs.Resources, second); got < 30 || got > 31 {
			t.Errorf("%s: a wait of %g s for all, want 30", rule, got)
		}
	}
}

// What waits is foreseen in the order in which it starts.
func TestWaitsInTurn(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	e.OrderBy(orderBy("fair"), second)
	come(e, 0, 9, 0, 1000, grid.CPU, "c")
	last := e.Next(0)
	for n := range 6 {
		come(e, 0, 1, 1+n, 1000, grid.CPU, "c")
		come(e, 0, 2, 11+n, 1000, grid.CPU, "c")
		come(e, 0, 3, 21+n, 2000, grid.CPU, "c")
	}
	e.Waits(0, second, 10, func(w *Work, _ float64) bool {
		now := last.Started.Add(time.Second)
		e.Advance(now)
		e.Finish(last.ID, nil)
		if last = e.Next(now); last != w {
			t.Errorf("task %v starts, foreseen was %v", last.ID.Task, w.ID.Task)
		}
		return last == w
	})
}

// Restored work has waited since the node runs again: it is not overdue.
func TestRestoredWorkIsNotOverdue(t *testing.T) {
	e := new(New(grid.Resources{CPU: grid.CPU}))
	e.OrderBy(orderBy("fair"), second)
	now := grid.Time(5 * time.Hour)
	e.AcceptedAgain(now, come(e, 0, 1, 1, 1000, grid.CPU, "c"))
	come(e, now, 2, 2, 2000, grid.CPU, "c")
	if w := e.Next(now); w == nil || w.ID.Task.Index != 2 || e.Queue()[0].Accepted != now {
		t.Errorf("%v starts, want 2, which bids more", w)
	}
}

// A queue of 10,000, and a task that comes and starts beside them: CPU under fair over CPU under fifo.
func BenchmarkOrderBars(b *testing.B) {
	const waiting, rounds = 10_000, 100_000
	one := func(rule string, nodes int) time.Duration {
		e := new(New(grid.Resources{CPU: 4 * grid.CPU}))
		e.OrderBy(orderBy(rule), second)
		n := 0
		add := func(now grid.Time) {
			n++
			come(e, now, byte(n%nodes), n, grid.Bid(1000*(1+n%3)), grid.CPU, [...]string{"a", "b"}[n%2])
		}
		for range waiting {
			add(0)
		}
		var now grid.Time
		began := cputime.Used()
		for range rounds {
			now = now.Add(time.Second / 4)
			e.Advance(now)
			w := e.Next(now)
			if w == nil {
				b.Fatal("nothing starts")
			}
			add(now)
			e.Finish(w.ID, nil)
			e.Forget(w.ID)
		}
		return cputime.Used() - began
	}
	for _, nodes := range []int{1, 3, 20} {
		fifo, fair := one("fifo", nodes), one("fair", nodes)
		for range 4 {
			fifo, fair = min(fifo, one("fifo", nodes)), min(fair, one("fair", nodes))
		}
		b.Logf("bar: order fair over fifo, %d waiting of %d nodes with 3 bids: CPU a task %.2f, want 1.20 at most (%v, %v)",
			waiting, nodes, fair.Seconds()/fifo.Seconds(), fair/rounds, fifo/rounds)
	}
}

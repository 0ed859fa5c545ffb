package sim

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// reschedule is the time that a task waits to run elsewhere after its worker died.
type reschedule struct {
	job  int32
	task int32 // over all submissions
	gone grid.AttemptID
	at   time.Duration // of the death
	took time.Duration // 0: it still waits
	boot uint64        // of its origin, at the death
}

// rescheduleDelays runs a world in small time steps and measures, for every task that runs on a node when that dies,
// when it runs again. ok decides whether a delay counts.
func rescheduleDelays(t *testing.T, c Config, until time.Duration,
	ok func(w *World, x *reschedule) bool) (took []time.Duration) {
	t.Helper()
	const bit = 10 * time.Millisecond
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	run := func(at time.Duration) {
		if err := w.RunUntil(at); err != nil {
			t.Fatal(err)
		}
	}
	var open []reschedule
	next := 0
	for at := bit; at <= until; at += bit {
		for ; next < len(c.Faults) && c.Faults[next].At <= at; next++ {
			if f := &c.Faults[next]; f.Kind == Crash {
				run(f.At - time.Microsecond)
				for x := w.hosts[f.Nodes[0]].runs; x >= 0; x = w.runs[x].nextOnNode {
					u := &w.runs[x]
					open = append(open, reschedule{job: u.job, task: u.task, gone: u.id, at: f.At,
						boot: w.hosts[w.cfg.Work[u.job].Node].boots})
				}
			}
		}
		run(at)
		open = slices.DeleteFunc(open, func(x reschedule) bool {
			again := w.Outcome(int(x.job), int(x.gone.Task.Index)).State == grid.Ended || w.runsAgain(x.task, x.gone)
			if x.took = at - x.at; again && ok(w, &x) {
				took = append(took, x.took)
			}
			return again
		})
	}
	if len(open) > 0 {
		t.Fatalf("seed %d: %d tasks of dead nodes never ran again, among them one of a node that died at %v", c.Seed,
			len(open), open[0].at)
	}
	slices.Sort(took)
	return took
}

// chaosGrid is the grid of make chaos: nine nodes of four cores and jobs of forty tasks of one to two seconds, some of
// which find an idle core at once.
func chaosGrid(seed uint64, members int, detect, every time.Duration) Config {
	r := grid.NewRand(seed, 5)
	c := Config{Seed: seed, Nodes: 9, Network: Network{Mesh: true,
		Latency: Uniform(200*time.Microsecond, 2*time.Millisecond), Detect: detect, Redial: time.Second},
		Node:    func(_ int, c *node.Config) { c.Capacity.CPU, c.Strikes, c.Members = 4*grid.CPU, 0, members },
		Machine: Machine{Size: func(r *grid.Rand) float64 { return 1 + 0.1*float64(r.IntN(10)) }},
		Disk:    Disk{Sync: 2 * time.Millisecond}, Rest: time.Minute}
	for at := 5 * time.Second; at < 150*time.Second; at += every {
		c.Work = append(c.Work, Submission{At: at, Node: r.IntN(9), Spec: spec("a", 40, grid.CPU)})
	}
	return c
}

// crashAndRestart crashes a node and restarts it.
func (c *Config) crashAndRestart(n int, at, back time.Duration) {
	c.Faults = append(c.Faults, Fault{At: at, Kind: Crash, Nodes: []int{n}},
		Fault{At: back, Kind: Restart, Nodes: []int{n}})
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}

// runsAgain reports whether another attempt of a task runs than the one that is gone.
func (w *World) runsAgain(task int32, gone grid.AttemptID) bool {
	for a := range w.books.Runs(task) {
		if a != gone.Attempt {
			return true
		}
	}
	return false
}

// ownerUndisturbed reports whether the owner of a waiting task has run since before the death: no takeover, and no
// restart of its origin.
func (w *World) ownerUndisturbed(x *reschedule) bool {
	h := &w.hosts[w.cfg.Work[x.job].Node]
	return h.up && h.boots == x.boot && x.gone.Epoch == 1
}

// With idle cores, a dead node's tasks run elsewhere as soon as node/coordinator/DESIGN.md says: a third of the lease
// after its connections closed, or a lease after its death if nobody notices, plus one placement decision.
func TestDeadNodesTasksRunElsewhereInTime(t *testing.T) {
	const lease, decision = 6 * time.Second, 200 * time.Millisecond // a poll of 50 ms, network latency, and slack
	for _, k := range []struct{ detect, bound time.Duration }{{time.Millisecond, lease / 3}, {8 * time.Second, lease}} {
		for _, members := range []int{1, 3} {
			waits, of := 0, seeds(6)
			for _, seed := range of {
				c := chaosGrid(seed, members, k.detect, 12*time.Second)
				for i := range c.Work {
					c.Work[i].Node = (i + 5) % 9 // not restarted lately, so connected to all
				}
				for n := range 9 {
					at := time.Duration(17500+12000*n+int(seed%10)*100) * time.Millisecond
					c.crashAndRestart(n, at, at+7*time.Second)
				}
				took := rescheduleDelays(t, c, 160*time.Second, func(w *World, x *reschedule) bool { return w.ownerUndisturbed(x) })
				if waits += len(took); len(took) > 0 && took[len(took)-1] > k.bound+decision {
					t.Errorf("noticed after %v, %d members, seed %d: a task waited %v, want at most %v", k.detect, members, seed,
						took[len(took)-1], k.bound+decision)
				}
			}
			if waits < 8*len(of) {
				t.Errorf("noticed after %v, %d members: only %d tasks waited", k.detect, members, waits)
			}
		}
	}
}

// The bar of make chaos, over many runs and with its load: half of the nodes die again and again, also those that took
// over a dead node's tasks, and the remaining cores have queues.
func TestDeadNodesTasksRunElsewhereInChaos(t *testing.T) {
	for _, detect := range []time.Duration{time.Millisecond, 8 * time.Second} {
		for _, members := range []int{1, 3} {
			var all []time.Duration
			for _, seed := range seeds(10) {
				c := chaosGrid(seed, members, detect, 2620*time.Millisecond)
				r := grid.NewRand(seed, 6)
				for at := 10 * time.Second; at < 150*time.Second; at += 5 * time.Second {
					at := at + time.Duration(r.IntN(2000))*time.Millisecond
					c.crashAndRestart(r.IntN(9), at, at+time.Duration(8000+r.IntN(8000))*time.Millisecond)
				}
				all = append(all, rescheduleDelays(t, c, 250*time.Second,
					func(w *World, x *reschedule) bool { return w.ownerUndisturbed(x) })...)
			}
			slices.Sort(all)
			p95 := all[len(all)*95/100]
			t.Logf("noticed after %v, %d members: %d tasks, p50 %v, p95 %v, longest %v", detect, members, len(all),
				all[len(all)/2], p95, all[len(all)-1])
			if p95 > 10*time.Second {
				t.Errorf("noticed after %v, %d members: p95 of %d waits is %v, want at most 10s", detect, members, len(all), p95)
			}
		}
	}
}

// An owner without a majority at the moment a dead worker's lease expired extended it by a whole lease; and it noticed
// the returned majority only at its next periodic check, and its tasks only after a doubled back-off.
func TestShortLossOfMajorityDelaysLittle(t *testing.T) {
	for _, seed := range seeds(5) {
		c := replicated()
		c.Seed, c.Nodes, c.Network.Detect, c.Network.Redial = seed, 7, time.Millisecond, 500*time.Millisecond
		c.Node = func(_ int, c *node.Config) { c.Capacity.CPU, c.Members = 4*grid.CPU, 3 }
		c.Machine.Rate = func(string, int) float64 { return 0.01 }
		c.Work = []Submission{{At: 5 * time.Second, Node: 0, Spec: spec("a", 14, grid.CPU)}}
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		run := func(until time.Duration) {
			if err := w.RunUntil(until); err != nil {
				t.Fatal(err)
			}
		}
		run(10 * time.Second)
		var members, workers []int
		for i := 1; i < c.Nodes; i++ {
			if slices.Contains(w.books.Job(0).Members, w.hosts[i].id) {
				members = append(members, i)
			} else if w.hosts[i].runs >= 0 {
				workers = append(workers, i)
			}
		}
		apply := func(k FaultKind, nodes ...int) { w.applyFault(&Fault{Kind: k, Nodes: nodes}) }
		apply(Crash, members...) // the owner may act for one more lease
		run(15 * time.Second)
		task, gone := w.runs[w.hosts[workers[0]].runs].task, w.runs[w.hosts[workers[0]].runs].id
		apply(Crash, workers[0]) // its lease expires at 17 s, when the owner may not act
		run(18 * time.Second)
		apply(Restart, members[0])
		for at := 18 * time.Second; ; at += 10 * time.Millisecond {
			run(at)
			if w.runsAgain(task, gone) {
				break
			}
			if at > 22*time.Second {
				t.Fatalf("seed %d: a task of a worker that died at 15 s waits still at %v; the majority was back at 18 s", seed, at)
			}
		}
	}
}

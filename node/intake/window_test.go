package intake

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"skep/balance/order"
	"skep/balance/utility"
	"skep/grid"
)

func cores(n float64) grid.Resources {
	return grid.Resources{CPU: grid.MilliCPU(n * float64(grid.CPU))}
}

func newWindow(t *testing.T, function string) *Window {
	t.Helper()
	f, err := utility.Parse(function)
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Longest: order.LongestWindow, Utility: f})
}

// offer is an offer of a task of the job of an owner, for so many cores.
func offer(from byte, index uint32, need grid.Resources, bid float64) (grid.NodeID, *grid.Offer, Facts) {
	id := grid.NodeID{from}
	o := &grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: id}, Index: index},
		Attempt: grid.Attempt{Epoch: 1, N: 1}}}
	return id, o, Facts{Gathers: true, Needs: need, Bid: bid, Usual: 10, Speedup: 1, Worth: 1}
}

func (w *Window) gather(now grid.Time, from byte, index uint32, need grid.Resources, bid float64,
	free grid.Resources) bool {
	id, o, f := offer(from, index, need, bid)
	return w.Gather(now, id, o, f, free, true)
}

func (w *Window) wants(now grid.Time, from byte, needs ...grid.Resources) {
	var options []grid.PollOption
	for _, n := range needs {
		options = append(options, grid.PollOption{Needs: n, Speedup: 1})
	}
	w.Asked(now, grid.NodeID{from}, options)
}

// A window opens for those who have asked and have not offered, if one of the ways in which their tasks can run does
// not fit beside the offer though it would alone.
func TestAWindowOpensWhereOffersContend(t *testing.T) {
	const now = grid.Time(1e9)
	gpu := grid.Resources{Counts: "gpu=1"}
	memory := func(gib grid.Bytes) grid.Resources { return grid.Resources{Memory: gib * grid.GiB} }
	twice := func(n float64) func(*Window) {
		return func(w *Window) { w.wants(now, 2, cores(n)); w.wants(now, 3, cores(n)) }
	}
	for name, c := range map[string]struct {
		need grid.Resources
		asks func(*Window)
		idle bool
		want bool
	}{
		"another wants the same":   {cores(8), func(w *Window) { w.wants(now, 2, cores(8)) }, true, true},
		"what is left suffices":    {cores(4), func(w *Window) { w.wants(now, 2, cores(4)) }, true, false},
		"in one way of two":        {cores(4), func(w *Window) { w.wants(now, 2, cores(8), cores(4)) }, true, true},
		"in both ways":             {cores(4), func(w *Window) { w.wants(now, 2, cores(4), cores(3)) }, true, false},
		"for one of two":           {cores(4), twice(4), true, true},
		"nor would it alone":       {cores(8), func(w *Window) { w.wants(now, 2, cores(9)) }, true, false},
		"nobody":                   {cores(8), func(*Window) {}, true, false},
		"itself":                   {cores(8), func(w *Window) { w.wants(now, 1, cores(8)) }, true, false},
		"too long ago":             {cores(8), func(w *Window) { w.wants(now-50_000_001, 2, cores(8)) }, true, false},
		"the offer does not fit":   {cores(9), func(w *Window) { w.wants(now, 2, cores(8)) }, true, false},
		"work waits":               {cores(8), func(w *Window) { w.wants(now, 2, cores(8)) }, false, false},
		"memory":                   {memory(3), func(w *Window) { w.wants(now, 2, memory(2)) }, true, true},
		"a device that is left":    {cores(1), func(w *Window) { w.wants(now, 2, gpu) }, true, false},
		"a device that is the one": {gpu, func(w *Window) { w.wants(now, 2, gpu) }, true, true},
	} {
		w := newWindow(t, "um_p1")
		c.asks(w)
		free := grid.Resources{CPU: 8 * grid.CPU, Memory: 4 * grid.GiB, Counts: "gpu=1"}
		id, o, f := offer(1, 0, c.need, 1)
		if got := w.Gather(now, id, o, f, free, c.idle); got != c.want {
			t.Errorf("%s: gathered %v, want %v", name, got, c.want)
		}
		if open := w.Closes() < grid.Never; open != c.want {
			t.Errorf("%s: open %v, want %v", name, open, c.want)
		}
	}
}

// A window closes 50 ms after the last poll that it was opened for, not later for polls and offers that come meanwhile,
// and at once when all who asked have offered.
func TestWhenAWindowCloses(t *testing.T) {
	w, now := newWindow(t, "um_p1"), grid.Time(1e9)
	w.wants(now, 2, cores(8))
	w.wants(now+10, 3, cores(8))
	w.gather(now+20, 1, 0, cores(8), 1, cores(8))
	closes := grid.Time(now + 10).Add(order.LongestWindow)
	if w.Closes() != closes {
		t.Errorf("it closes %v after the last poll, want %v", w.Closes().Sub(now+10), order.LongestWindow)
	}
	w.wants(now+30, 2, cores(8))
	if w.gather(now+40, 3, 0, cores(8), 1, cores(8)); w.Closes() != closes {
		t.Error("a further poll and an offer have moved its close")
	}
	if w.gather(now+50, 2, 0, cores(8), 1, cores(8)); w.Closes() != 0 {
		t.Errorf("all have offered, and it closes at %v", w.Closes())
	}
	if all := w.decide(cores(8)); len(all) != 3 || w.Closes() != grid.Never {
		t.Errorf("%d decisions, then it closes at %v: want three, and it closed", len(all), w.Closes())
	}
}

// What is gathered is bounded: at the bound the window closes.
func TestAFullWindowCloses(t *testing.T) {
	w, now := newWindow(t, "um_p1"), grid.Time(1e9)
	for k := range byte(2 * mostRivals) {
		w.wants(now, 10+k, cores(8))
	}
	if len(w.rivals) != mostRivals {
		t.Errorf("%d nodes have asked, want the last %d", len(w.rivals), mostRivals)
	}
	for k := range uint32(mostOffers) {
		if w.Closes() == 0 {
			t.Fatalf("full at %d offers", k)
		}
		w.gather(now, 1, k, cores(8), 1, cores(8))
	}
	if w.Closes() != 0 {
		t.Errorf("open with %d offers", mostOffers)
	}
}

// The set that is worth most is taken: three small tasks before one that fills the node and bids less than the three
// together, and the other way round. Who is refused is told what he would have had to be worth.
func TestTheBestSetIsTaken(t *testing.T) {
	for _, c := range []struct {
		large float64 // bid of the one
		want  int     // offers taken
	}{{2, 3}, {4, 1}} {
		w, now := newWindow(t, "um_p1"), grid.Time(1e9)
		w.wants(now, 9, cores(6))
		w.gather(now, 1, 0, cores(6), c.large, cores(6))
		for k := range uint32(3) {
			w.gather(now, 2, k, cores(2), 1, cores(6))
		}
		taken := 0
		for _, d := range w.decide(cores(6)) {
			need := cores(6)
			if d.From == (grid.NodeID{2}) {
				need = cores(2)
			}
			switch p := d.Prices; {
			case p == nil:
				taken++
			case p.Check() != nil, p.Offers != 4, p.Left != cores(0):
				t.Errorf("prices %+v", p)
			case p.Of(need) < p.Worth*(1-1e-6):
				t.Errorf("bid %v: refused, worth %v credits, at a price of %v", c.large, p.Worth, p.Of(need))
			}
		}
		if taken != c.want {
			t.Errorf("bid %v for all: %d offers are taken, want %d", c.large, taken, c.want)
		}
	}
}

// What a job says of the value of its options counts among them only, so that no number of its owner's outweighs all.
func TestValuesCountWithinTheirJob(t *testing.T) {
	s := &grid.JobSpec{Count: 1}
	s.Needs.SetOptions([]grid.Option{{Resources: cores(2), Speedup: 1, Value: 1e6},
		{Resources: cores(1), Speedup: 2, Value: 5e5}})
	f := FactsOf(&grid.Offer{Spec: s, Option: 1}, 10)
	if f.Worth != 1 || f.credits() != 10 {
		t.Errorf("the best option of a job counts %v, %v credits: want 1, 10", f.Worth, f.credits())
	}
	if f = FactsOf(&grid.Offer{Spec: s, Option: 2}, 10); f.Worth != 0.5 || f.Needs != cores(1) || f.Speedup != 2 {
		t.Errorf("the other: %+v", f)
	}
}

// Whatever is offered, each offer is decided once, what is taken fits what is free, no offer is refused that would fit
// beside what is taken, and prices are numbers that may be told.
func TestDecisionsOfRandomOffers(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	functions := []string{"um_p1", "um_p3", "balanced", "credit", "near", "shape"}
	for round := range 400 {
		w, now := newWindow(t, functions[r.IntN(len(functions))]), grid.Time(1e9)
		free := grid.Resources{CPU: cores(float64(1 + r.IntN(16))).CPU, Memory: grid.Bytes(r.IntN(9)) * grid.GiB,
			Counts: []grid.Counts{"", "gpu=2", "fpga=1,gpu=4"}[r.IntN(3)]}
		w.wants(now, 99, free)
		needs := map[grid.TaskID]grid.Resources{}
		for k := range uint32(1 + r.IntN(20)) {
			need := grid.Resources{CPU: cores(float64(1+r.IntN(32)) / 4).CPU, Memory: grid.Bytes(r.IntN(4)) * grid.GiB,
				Counts: []grid.Counts{"", "gpu=1", "gpu=2"}[r.IntN(3)]}
			id, o, f := offer(byte(1+r.IntN(5)), k, need, []float64{0.001, 1, 7, 1e6}[r.IntN(4)])
			f.Age, f.Usual, f.Speedup = r.Float64()*1e6, []float64{1e-9, 10, 1e12, math.Inf(1)}[r.IntN(4)], 0.001+r.Float64()*10
			if w.Gather(now, id, o, f, free, true) {
				needs[o.ID.Task] = need
			}
		}
		left := free
		all := w.decide(free)
		for _, d := range all {
			if d.Prices == nil {
				left = left.Minus(needs[d.Offer.ID.Task])
			}
		}
		if len(all) != len(needs) || left.CPU < 0 || left.Memory < 0 || left.Counts.Negative() {
			t.Fatalf("seed %d, round %d: %d decisions of %d offers, %v left", seed, round, len(all), len(needs), left)
		}
		for _, d := range all {
			if p := d.Prices; p != nil && (p.Check() != nil || p.Left != left || left.Fits(needs[d.Offer.ID.Task])) {
				t.Fatalf("seed %d, round %d: refused what needs %v with %v left, for %+v: %v", seed, round,
					needs[d.Offer.ID.Task], left, p, p.Check())
			}
		}
	}
}

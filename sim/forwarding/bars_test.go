package forwarding

import (
	"fmt"
	"testing"

	"skep/discovery"
)

// BenchmarkForwardingBars measures the strategies against a random walk in the same world, and what a cold request
// takes for what one node in 10,000 has. Counts and no times: they are the same on every machine.
func BenchmarkForwardingBars(b *testing.B) {
	for range b.N {
		barLearning()
		barLoad()
		barCold()
	}
}

func report(what string, got float64, bar string, pass bool) {
	verdict := "pass"
	if !pass {
		verdict = "MISS"
	}
	fmt.Printf("bar: %-58s %10.3f        bar %-9s %s\n", what, got, bar, verdict)
}

func barLearning() {
	of := func(forward string, requests int) *Result {
		s := Defaults()
		s.Seed, s.Discovery.Forward, s.Requests = 1, forward, requests
		r, _ := Run(s, nil)
		return r
	}
	walk, learned := of("random_walk", 6000), of("learning", 60_000)
	hops, met := learned.Second.MeanHops()/walk.Second.MeanHops(), learned.Second.Success()
	report("learning over random walk after warm-up: hops", hops, "≤ 0.25", hops <= 0.25)
	report("learning after warm-up: success", met, "≥ 0.99", met >= 0.99)
}

// barLoad takes the hardest of four worlds: a tenth of the nodes hold most, and most requests are for few types.
func barLoad() {
	s := Defaults()
	d := discovery.Defaults()
	s.Seed, s.Rich, s.Zipf = 1, true, true
	s.Discovery.Forward, s.Discovery.Explore, s.Discovery.Load, s.Discovery.BestShare = "learning_best_neighbour",
		d.Explore, d.Load, d.BestShare
	r, _ := Run(s, nil)
	report("learning + best neighbour, load term: the busiest tenth has", r.Busiest, "≤ 0.35", r.Busiest <= 0.35)
	s.Discovery.Load, s.Discovery.BestShare = 0, 1
	r, _ = Run(s, nil)
	report("the same without it", r.Busiest, "reported", true)
}

func barCold() {
	of := func(calls bool, view int) *Window {
		s := Defaults()
		s.Discovery = discovery.Defaults()
		s.Seed, s.Nodes, s.Types, s.Requests, s.Rare, s.Once, s.Calls, s.View = 1, 10_000, 100, 100, 1, true, calls, view
		r, _ := Run(s, nil)
		return &r.Second
	}
	alone, call, ads := of(false, 0), of(true, 0), of(true, 256)
	report("cold request, 1 node in 10,000: success, walk then call", call.Success(), "≥ 0.99", call.Success() >= 0.99)
	report("with the ads of the 256 nearest nodes", ads.Success(), "≥ 0.99", ads.Success() >= 0.99)
	report("its messages, each link of a call counted", call.PerRequest(), "reported", true)
	report("its messages with ads", ads.PerRequest(), "reported", true)
	report("success of the walks alone", alone.Success(), "reported", true)
}

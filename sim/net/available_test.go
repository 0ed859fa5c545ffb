package net

import (
	"testing"
	"time"

	"skep/grid"
	"skep/sim"
)

// shared is a grid of two groups: one runs the short class faster, but other users take half of its cores.
func shared(counted bool) *Scenario {
	one := grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}
	s := &Scenario{Name: "shared", Seed: 1, Replications: 3, Start: 10 * time.Second, Warmup: time.Minute,
		Time: 4 * time.Minute, Node: alone(),
		Groups: []Group{{Name: "free", Count: 8, Cores: 2, Memory: grid.GiB, Speed: 1},
			{Name: "used", Count: 8, Cores: 2, Memory: grid.GiB, Speed: 1, Left: 0.5, Rates: map[string]float64{"short": 2}}},
		Classes: []Class{{Name: "short", Mean: time.Second, Size: sim.Exponential(), Needs: one, Retries: 1000},
			{Name: "long", Mean: 4 * time.Second, Size: sim.Exponential(), Needs: one, Retries: 1000}},
		Streams: []Stream{{Class: "short", Rate: 8}, {Class: "long", Rate: 2.5}}}
	s.Network.Latency = Span{Kind: Uniform, A: time.Millisecond, B: 5 * time.Millisecond}
	s.Node.Balance.Availability = counted
	return s
}

// "the CPU availability a_j ... enters the LP": a grid that counts only the available share of its cores ends its
// tasks sooner than one that counts all of them.
func TestCountingAvailabilityPays(t *testing.T) {
	with, without := run(t, shared(true)), run(t, shared(false))
	ratio := with.Completion.Mean / without.Completion.Mean
	t.Logf("completion %.3f s, without %.3f s: %.2f times", with.Completion.Mean, without.Completion.Mean, ratio)
	if ratio > 0.95 {
		t.Errorf("completion %.3f s, %.2f times that without: want at most 0.95 times", with.Completion.Mean, ratio)
	}
	if with.Lambda != without.Lambda || with.Lambda < 1.5 || with.Lambda > 3 {
		t.Errorf("λ* %g and %g: want that of what others leave", with.Lambda, without.Lambda)
	}
}

package net

import (
	"testing"
	"time"

	"skep/grid"
	"skep/sim"
)

// distant is a grid of short tasks that four near nodes can run, and so many far ones; all tasks come from the near
// nodes.
func distant(far int, latency time.Duration) *Scenario {
	s := &Scenario{Name: "far", Seed: 3, Replications: 3, Start: 10 * time.Second, Warmup: 30 * time.Second,
		Time: 90 * time.Second, Node: alone(),
		Groups: []Group{{Name: "near", Count: 8, Cores: 2, Memory: grid.GiB, Speed: 1}},
		Classes: []Class{{Name: "short", Mean: 100 * time.Millisecond, Size: sim.Exponential(), Retries: 1000,
			Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}},
		Streams: []Stream{{Class: "short", Rate: 58, From: []string{"near"}}}}
	s.Network.Latency = Span{Kind: Constant, A: time.Millisecond}
	if far > 0 {
		s.Groups = append(s.Groups, Group{Name: "far", Count: far, Cores: 2, Memory: grid.GiB, Speed: 1})
		s.Network.Matrix = [][]time.Duration{{0, latency}, {latency, 0}}
	}
	return s
}

// Idle nodes far away do not delay tasks that end sooner nearby: a move costs the round trip to the node that it goes
// to, and a poll does not wait for an answer that cannot win.
func TestFarNodesDoNoHarm(t *testing.T) {
	without := run(t, distant(0, 0)).Completion.Mean
	for _, latency := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		if with := run(t, distant(4, latency)).Completion.Mean; with > 1.03*without {
			t.Errorf("with nodes %v away tasks take %.1f ms, without them %.1f ms: want at most 3 %% more", latency, 1000*with,
				1000*without)
		}
	}
}

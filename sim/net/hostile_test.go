package net

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"skep/grid"
	"skep/sim"
)

var allHostile = flag.Bool("net.hostile", false, "run every row of TestHostileNodes, not only the hardest of each kind")

// withHostile is a half-loaded grid of honest nodes, with hostile ones among them that submit nothing. Views are small
// against the grid, and only one node has a label that some tasks need, so that there are searches.
func withHostile(honest, bad int, does sim.Behaviour) *Scenario {
	one := grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}
	rare := one
	rare.Labels = []grid.LabelNeed{{Key: "rare", Values: []string{"yes"}}}
	s := &Scenario{Name: "beset", Seed: 3, Replications: 4, Start: 10 * time.Second, Warmup: 20 * time.Second,
		Time: 80 * time.Second, Node: alone(),
		Groups: []Group{{Name: "good", Count: honest - 1, Cores: 2, Memory: grid.GiB, Speed: 1},
			{Name: "rare", Count: 1, Cores: 2, Memory: grid.GiB, Speed: 1, Labels: []grid.Label{{Key: "rare", Value: "yes"}}}},
		Classes: []Class{{Name: "short", Mean: time.Second, Size: sim.Exponential(), Needs: one, Retries: 1000},
			{Name: "long", Mean: 4 * time.Second, Size: sim.Exponential(), Needs: one, Retries: 1000},
			{Name: "rare", Mean: time.Second, Size: sim.Exponential(), Needs: rare, Retries: 1000}},
		Streams: []Stream{{Class: "short", Rate: 0.6 * float64(honest)}, {Class: "long", Rate: 0.1 * float64(honest)},
			{Class: "rare", Rate: 0.3}}}
	s.Node.Gossip.View = 20
	if bad > 0 {
		s.Groups = append(s.Groups, Group{Name: "bad", Count: bad, Cores: 2, Memory: grid.GiB, Speed: 1, Hostile: does})
	}
	s.Network.Latency = Span{Kind: Uniform, A: time.Millisecond, B: 5 * time.Millisecond}
	return s
}

// With one node in ten or three in ten hostile, no task is lost, every task succeeds, and the tasks of the honest
// nodes take hardly longer than without hostile ones. Only a hole costs more, as each node has to find it out for
// itself: it takes half a minute until an attempt is reclaimed from it, far longer than these tasks.
func TestHostileNodes(t *testing.T) {
	alone := map[int]float64{}
	for _, c := range []struct {
		does   sim.Behaviour
		bad    int
		all    int
		most   float64 // mean completion time over that of the honest nodes alone
		longer bool    // only with -net.hostile
	}{
		{sim.Liar, 3, 30, 1.4, false}, {sim.Liar, 9, 30, 1.7, false},
		{sim.Garbler, 3, 30, 1.3, true}, {sim.Garbler, 9, 30, 1.3, false},
		{sim.Looper, 3, 30, 1.3, true}, {sim.Looper, 9, 30, 1.3, false},
		{sim.Replayer, 3, 30, 1.3, true}, {sim.Replayer, 9, 30, 1.3, false},
		{sim.Flooder, 1, 10, 1.3, false}, {sim.Flooder, 3, 10, 1.3, true},
		{sim.Glutton, 3, 30, 1.3, true}, {sim.Glutton, 9, 30, 1.3, false},
		{sim.Hole, 3, 30, 1.5, true}, {sim.Hole, 9, 30, 1.6, false},
		{sim.Hole | sim.Glutton | sim.Liar, 9, 30, 1.6, false},
		{sim.Liar | sim.Garbler | sim.Looper | sim.Replayer, 9, 30, 1.7, true},
	} {
		t.Run(fmt.Sprintf("%v of %d %s", c.bad, c.all, c.does), func(t *testing.T) {
			if c.longer && !*allHostile {
				t.Skip("-net.hostile runs it, as make soak does")
			}
			honest := c.all - c.bad
			if alone[honest] == 0 {
				alone[honest] = run(t, withHostile(honest, 0, 0)).Completion.Mean
			}
			r := run(t, withHostile(honest, c.bad, c.does))
			if r.Lost != 0 || r.Failed != 0 || r.Ended != r.Tasks {
				t.Errorf("%d of %d tasks ended, %d failed, %d lost", r.Ended, r.Tasks, r.Failed, r.Lost)
			}
			if r.Hostile == 0 {
				t.Error("the hostile nodes said nothing: this tests nothing")
			}
			ratio := r.Completion.Mean / alone[honest]
			t.Logf("completion %.3f s, alone %.3f s: %.2f times", r.Completion.Mean, alone[honest], ratio)
			if ratio > c.most {
				t.Errorf("completion %.3f s, %.2f times that of the honest nodes alone, %.3f s: want at most %.2f times",
					r.Completion.Mean, ratio, alone[honest], c.most)
			}
		})
	}
}

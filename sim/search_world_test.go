package sim

import (
	"testing"
	"time"

	"skep/discovery"
	"skep/grid"
	"skep/node"
)

// searchers is a grid of real nodes, some of which search from the 30th second on for a label that the last node has,
// or nobody.
func searchers(nodes, askers int, every time.Duration, somebody bool, change func(*node.Config)) Config {
	c := Config{Seed: 4, Nodes: nodes, Spread: 2 * time.Second, Rest: time.Minute,
		Network: Network{Latency: Uniform(5*time.Millisecond, 40*time.Millisecond), Join: 3},
		Machine: Machine{Size: Exponential(), Rate: func(string, int) float64 { return 5 }},
		Node: func(i int, c *node.Config) {
			c.Capacity.CPU = 4 * grid.CPU
			if somebody && i == nodes-1 {
				c.Labels = append(c.Labels, grid.Label{Key: "gpu", Value: "yes"})
			}
			change(c)
		}}
	s := spec("rare", 1, grid.CPU)
	s.Needs.Labels = []grid.LabelNeed{{Key: "gpu", Values: []string{"yes"}}}
	for k := range askers {
		c.Work = append(c.Work, Submission{At: 30*time.Second + time.Duration(k)*every, Node: k, Spec: s})
	}
	return c
}

// A hundred nodes that miss the same label within a second make a few calls, and each of their tasks ends with the
// reason.
func TestStormForAMissingLabel(t *testing.T) {
	for _, forward := range []string{"random_walk", "learning"} {
		w, r := finish(t, searchers(120, 100, 10*time.Millisecond, false,
			func(c *node.Config) { c.Discovery.Forward = forward }))
		calls := w.Traffic().Announced[grid.KindCall]
		t.Logf("%s: %d calls, %d walks", forward, calls, w.Traffic().Walks)
		if calls < 1 || calls > 12 {
			t.Errorf("%s: %d calls by 100 nodes, want a few", forward, calls)
		}
		if r.Ended != 100 || r.Failed != 100 {
			t.Errorf("%s: %d of 100 tasks ended, %d could not be placed", forward, r.Ended, r.Failed)
		}
	}
}

// Nodes with small views find what one node has, under every forwarding strategy.
func TestRareLabelIsFound(t *testing.T) {
	for _, forward := range discovery.Forwards() {
		w, r := finish(t, searchers(200, 60, 500*time.Millisecond, true, func(c *node.Config) {
			c.Discovery.Forward, c.Gossip.View, c.Gossip.Neighbours = forward, 17, 8
		}))
		x := w.Traffic()
		t.Logf("%s: %d walks, %d found after %.1f hops, %d calls", forward, x.Walks, x.Found,
			float64(x.FoundHops)/float64(x.Found), x.Announced[grid.KindCall])
		if r.Ended != 60 || r.Failed != 0 {
			t.Errorf("%s: %d of 60 tasks ended, %d failed", forward, r.Ended, r.Failed)
		}
	}
}

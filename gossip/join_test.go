package gossip

import (
	"fmt"
	"testing"
	"time"
)

// meet starts nodes at once, each with the address of one of the first few, and returns when all had a full neighbour
// set, and when all knew all; the limit where that was later.
func meet(t *testing.T, nodes, hubs int, seed uint64, limit time.Duration) (full, all time.Duration) {
	const step = 100 * time.Millisecond
	w := newNetwork(t, nodes, seed, Defaults())
	for i := range w.nodes {
		w.after(0, func() {
			n := w.nodes[i]
			w.step(n, func() { n.Start(w.now, n.ad, &n.fx) })
			if i > 0 {
				w.dial(i, w.rand.IntN(min(i, hubs)))
			}
		})
	}
	full, all = limit, limit
	for at := step; at <= limit && (full == limit || all == limit); at += step {
		w.run(step)
		ready, known := true, true
		for _, n := range w.nodes {
			ready = ready && len(n.Neighbours()) >= min(n.cfg.Neighbours, nodes-1)
			heard := 0
			for _, p := range n.Peers() {
				if p.Ad != nil {
					heard++
				}
			}
			known = known && heard == nodes-1
		}
		if ready {
			full = min(full, at)
		}
		if known {
			all = min(all, at)
		}
	}
	return full, all
}

// Nodes that start at once have full neighbour sets and know each other soon.
func TestNodesStartedAtOnceMeet(t *testing.T) {
	for _, c := range []struct {
		nodes, hubs int
		within      time.Duration
	}{{3, 1, 2 * time.Second}, {9, 1, 3 * time.Second}, {30, 1, 5 * time.Second}, {30, 8, 5 * time.Second},
		{100, 1, 10 * time.Second}, {100, 8, 10 * time.Second}} {
		t.Run(fmt.Sprintf("%d nodes by %d", c.nodes, c.hubs), func(t *testing.T) {
			var fullest, longest time.Duration
			late := 0
			for seed := range uint64(20) {
				full, all := meet(t, c.nodes, c.hubs, seed+1, 3*time.Minute)
				fullest, longest = max(fullest, full), max(longest, all)
				if full > 5*time.Second || all > c.within {
					late++
				}
			}
			t.Logf("full neighbour sets within %v, all known within %v", fullest, longest)
			if late > 0 {
				t.Errorf("%d of 20 runs were late: want full neighbour sets within 5s and all known within %v", late, c.within)
			}
		})
	}
}

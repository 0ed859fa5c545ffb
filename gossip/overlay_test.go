package gossip

import (
	"testing"
	"time"
)

func TestOverlay(t *testing.T) {
	c := Defaults()
	c.View = 64
	w := newNetwork(t, 200, 1, c)
	w.join(200 * time.Millisecond)
	w.run(10 * time.Minute)

	near, all, edges, mutual := 0.0, 0.0, 0, 0
	for i, n := range w.nodes {
		if d := w.distances(i); i%20 == 0 {
			for j, h := range d {
				if h < 0 {
					t.Errorf("no way from %d to %d", i, j)
				}
			}
		}
		if k := len(n.Neighbours()); k < c.Neighbours/2 || k > 2*c.Neighbours {
			t.Errorf("node %d has %d neighbours", i, k)
		}
		if len(n.Peers()) > c.View {
			t.Errorf("node %d knows %d", i, len(n.Peers()))
		}
		best := 1e9
		for _, m := range n.Neighbours() {
			j := index(m)
			rtt := w.rtt(i, j).Seconds()
			best = min(best, rtt)
			edges++
			if p := w.nodes[j].Peer(id(i)); p != nil && p.Neighbour {
				mutual++
			}
		}
		near += best
		for j := range w.nodes {
			if j != i {
				all += w.rtt(i, j).Seconds() / 199
			}
		}
	}
	t.Logf("degree %.1f, mutual %.2f, nearest neighbour %.0f ms, mean %.0f ms", float64(edges)/200,
		float64(mutual)/float64(edges), near*5, all*5)
	if near > 0.5*all {
		t.Errorf("nearest neighbours at %.0f ms, nodes at %.0f ms: want near ones chosen", near*5, all*5)
	}
	if m := float64(mutual) / float64(edges); m < 0.98 {
		t.Errorf("%.2f of the neighbourhoods are mutual", m)
	}
}

func TestSmallGridAllAreNeighbours(t *testing.T) {
	w := newNetwork(t, 9, 1, Defaults())
	w.join(time.Second)
	w.run(2 * time.Minute)
	for i, n := range w.nodes {
		if len(n.Neighbours()) != 8 {
			t.Errorf("node %d has %d neighbours, want all 8", i, len(n.Neighbours()))
		}
	}
	// With all nodes known and connected only the refreshes are sent.
	before := w.digests
	w.run(10 * time.Minute)
	perNode := float64(w.digests-before) / 9 / (600.0 / 30)
	t.Logf("idle: %.1f digests for each node and Refresh", perNode)
	if perNode > 8*2.5 {
		t.Errorf("idle: %.1f digests for each node and Refresh, want at most 8 of its own and some handed on", perNode)
	}
}

func TestDeadNodeIsReplacedAndForgotten(t *testing.T) {
	w := newNetwork(t, 40, 2, Defaults())
	w.join(time.Second)
	w.run(5 * time.Minute)
	w.nodes[7].dead = true
	for j := range w.nodes {
		if w.nodes[j].up[7] {
			w.link(j, 7, false)
		}
	}
	w.run(5 * time.Minute)
	for i, n := range w.nodes {
		if i == 7 {
			continue
		}
		if n.Peer(id(7)) != nil {
			t.Errorf("node %d still knows the dead one", i)
		}
		if len(n.Neighbours()) < 8 {
			t.Errorf("node %d has %d neighbours", i, len(n.Neighbours()))
		}
	}
}

func TestLeavingIsForgottenAtOnce(t *testing.T) {
	c := Defaults()
	w := newNetwork(t, 40, 3, c)
	w.join(time.Second)
	w.run(5 * time.Minute)
	n := w.nodes[7]
	ad := *n.ad
	ad.Leaving = true
	w.step(n, func() { n.Advertise(w.now, &ad, &n.fx) })
	w.run(5 * time.Second)
	for i, m := range w.nodes {
		if i != 7 && m.Peer(id(7)) != nil && m.Peer(id(7)).Ad != nil {
			t.Errorf("node %d still knows the one that left", i)
		}
	}
}

func TestPartitionHeals(t *testing.T) {
	w := newNetwork(t, 60, 4, Defaults())
	w.join(time.Second)
	w.run(5 * time.Minute)
	side := func(i int) bool { return i%2 == 0 }
	w.split = func(a, b int) bool { return side(a) != side(b) }
	for a := range w.nodes {
		for b := range w.nodes {
			if w.split(a, b) && w.nodes[a].up[b] {
				w.link(a, b, false)
			}
		}
	}
	w.run(7 * time.Minute) // 2×Expire and a Look
	for i, n := range w.nodes {
		for _, p := range n.Peers() {
			if side(index(p.Node())) != side(i) && !p.Neighbour {
				t.Fatalf("node %d still knows %d of the other side", i, index(p.Node()))
			}
		}
	}
	// The driver tries again whom it was ever connected to; three of them do here.
	w.split = nil
	for i := range 3 {
		for b := range w.nodes {
			if w.nodes[i].once[b] && side(b) != side(i) {
				w.dial(i, b)
				break
			}
		}
	}
	w.run(5 * time.Minute)
	for i, n := range w.nodes {
		other := 0
		for _, p := range n.Peers() {
			if side(index(p.Node())) != side(i) && p.Ad != nil {
				other++
			}
		}
		if other < 24 {
			t.Errorf("node %d knows %d of the 30 of the other side", i, other)
		}
		for _, h := range w.distances(i) {
			if h < 0 {
				t.Fatalf("node %d does not reach all", i)
			}
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	var hash [3]uint64
	for i := range hash {
		w := newNetwork(t, 50, 5+uint64(i/2), Defaults())
		w.join(time.Second)
		w.run(5 * time.Minute)
		hash[i] = w.hash
	}
	if hash[0] != hash[1] {
		t.Error("the same seed gave two different runs")
	}
	if hash[0] == hash[2] {
		t.Error("two seeds gave the same run")
	}
}

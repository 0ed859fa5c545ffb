package gossip

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// wrong counts the view entries about a node that are out of date or missing.
func (w *network) wrong(i int) (n int) {
	for j, m := range w.nodes {
		if p := m.Peer(id(i)); j != i && !m.dead && (p == nil || p.Ad == nil || p.Ad.Free != w.nodes[i].ad.Free) {
			n++
		}
	}
	return n
}

// News of large changes reaches every node, over trees that repair themselves when neighbours change and nodes die.
func TestAdaptiveNewsComesToEverybody(t *testing.T) {
	const n = 80
	c := Defaults()
	c.Rule = "adaptive:0.1"
	w := newNetwork(t, n, 3, c)
	w.join(100 * time.Millisecond)
	w.run(4 * time.Minute)
	change := func(free float64) (perChange float64, wrong int) {
		before := w.ads
		for i := 0; i < n; i += 8 {
			w.say(i, free)
		}
		w.run(25 * time.Second)
		for i := 0; i < n; i += 8 {
			wrong += w.wrong(i)
		}
		return float64(w.ads-before) / (n / 8), wrong
	}
	for k := range 6 {
		per, wrong := change([]float64{0.1, 0.9}[k%2])
		t.Logf("change %d: %.0f entries each, refreshes included, %d wrong", k, per, wrong)
		if most := n / 8 * (n - 1) / 50; wrong > most { // neighbours are replaced all the time here
			t.Errorf("change %d: %d entries are wrong after 25 s: want at most %d, one in fifty", k, wrong, most)
		}
	}
	for i := 4; i < n; i += 8 { // a node in eight dies
		w.nodes[i].dead = true
		for j := range w.nodes {
			if w.nodes[j].up[i] {
				w.link(j, i, false)
			}
		}
	}
	w.run(time.Minute)
	change(0.5)
	w.run(2 * time.Minute)
	for i := 0; i < n; i += 8 {
		if wrong := w.wrong(i); wrong > 0 {
			t.Errorf("%d know node %d wrongly after nodes on the trees died", wrong, i)
		}
	}
}

// A value that alternates is sent rarely, and one that then stays is sent.
func TestAdaptiveHoldsBackWhatFlaps(t *testing.T) {
	c := Defaults()
	c.Rule = "adaptive:0.1"
	g, fx := started(t, c, 2)
	now := grid.Time(10 * time.Second)
	say := func(free float64, stays time.Duration) {
		g.Advertise(now, adOf(0, free), fx)
		for end := now.Add(stays); now < end; now = now.Add(100 * time.Millisecond) {
			g.Wake(now, grid.Timer{Kind: grid.TimerGossip}, fx)
		}
	}
	was := g.Stats().Emitted
	for range 40 {
		say(0, 1500*time.Millisecond)
		say(1, 1500*time.Millisecond)
	}
	flapped := g.Stats().Emitted - was
	if flapped > 20 {
		t.Errorf("%d ads for 80 changes that did not stay", flapped)
	}
	was = g.Stats().Emitted
	say(0.5, 20*time.Second)
	if g.Stats().Emitted != was+1 {
		t.Errorf("%d ads for one that stayed", g.Stats().Emitted-was)
	}
}

func TestThePriceFollowsTheError(t *testing.T) {
	c := Defaults()
	c.Rule = "adaptive:0.1"
	g, _ := started(t, c, 1)
	p0 := g.rule.adapt.price
	for range 50 {
		g.Answered(id(1), grid.Resources{CPU: 4000, Memory: grid.GiB}, 0) // its ad says 8000 of 8000
	}
	low := g.rule.adapt.price
	for range 500 {
		g.Answered(id(1), grid.Resources{CPU: 8000, Memory: grid.GiB}, 0)
	}
	if high := g.rule.adapt.price; !(low < p0 && high > p0) {
		t.Errorf("price %g, after errors of 0.5 %g, after none %g", p0, low, high)
	}
	for range 100_000 {
		g.Found(math.Inf(1))
	}
	if g.rule.adapt.price != cheapest {
		t.Errorf("price %g: want it bounded by %g", g.rule.adapt.price, cheapest)
	}
}

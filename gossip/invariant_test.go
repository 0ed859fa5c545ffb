package gossip

import (
	"math/bits"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

// holds checks a node's invariants between events, and its effects.
func holds(t *rapid.T, g *Gossip, fx *grid.Effects, last map[grid.NodeID]grid.Time, now grid.Time, leaving bool) {
	if !slices.IsSortedFunc(g.peers, func(a, b *Peer) int { return a.Node().Compare(b.Node()) }) ||
		len(g.peers) > g.cfg.View {
		t.Fatalf("view of %d: unordered or beyond %d", len(g.peers), g.cfg.View)
	}
	if len(g.links) > 2*g.cfg.Neighbours {
		t.Fatalf("%d neighbours", len(g.links))
	}
	var used, up uint64
	lucky := int32(0)
	for i, p := range g.peers {
		if i > 0 && g.peers[i-1].Node() == p.Node() || p.Node() == g.self {
			t.Fatalf("%v is twice in the view, or this node is", p.Node().Short())
		}
		if p.lucky {
			lucky++
		}
		if p.yields() && now < g.mostTill && g.cost(now, p) > g.most {
			t.Fatalf("%v costs %d: want at most %d until %v", p.Node().Short(), g.cost(now, p), g.most, g.mostTill)
		}
		if !p.Up && !p.Neighbour && p.Ad == nil {
			t.Fatalf("%v is kept for nothing", p.Node().Short())
		}
		if p.Neighbour != slices.Contains(g.links, p) || p.Up && p.link == nil {
			t.Fatalf("%v: neighbour %v", p.Node().Short(), p.Neighbour)
		}
		if p.Neighbour {
			if bits.OnesCount64(p.link.bit()) != 1 || used&p.link.bit() != 0 {
				t.Fatalf("bit %b of %v is not its own", p.link.bit(), p.Node().Short())
			}
			used |= p.link.bit()
			if p.Up {
				up |= p.link.bit()
			}
		}
		if p.due&^g.up != 0 {
			t.Fatalf("due for nobody")
		}
	}
	if used != g.used || up != g.up || lucky != g.lucky || len(g.Neighbours()) != bits.OnesCount64(up) ||
		(g.due|g.some)&^g.up != 0 {
		t.Fatalf("used %b %b, up %b %b, lucky %d %d", used, g.used, up, g.up, lucky, g.lucky)
	}
	if g.some != 0 && g.wakeAt == grid.Never {
		t.Fatal("something is due and no timer is set")
	}
	if g.top.Less(g.ad.Seq) || g.top.Less(g.emitted.Seq) {
		t.Fatalf("top %v below %v", g.top, g.ad.Seq)
	}
	for _, s := range fx.Sends {
		size := 0
		for _, e := range s.Msg.Digest {
			size += len(e.Ad.Sealed)
			if e.Hops > grid.MaxHops {
				t.Fatalf("hops %d", e.Hops)
			}
		}
		if len(s.Msg.Digest) == 0 || len(s.Msg.Digest) > grid.MaxAds || size > int(grid.MaxDigest) || s.To == g.self {
			t.Fatalf("digest of %d ads, %d bytes", len(s.Msg.Digest), size)
		}
		if before, ok := last[s.To]; ok && now.Sub(before) < g.cfg.MinGap && !leaving {
			t.Fatalf("two digests to %v within %v", s.To.Short(), now.Sub(before))
		}
		last[s.To] = now
	}
	for n := range last {
		if g.Peer(n) == nil {
			delete(last, n) // who is forgotten is met again as new
		}
	}
	for _, w := range fx.Wakes {
		if w.At < now {
			t.Fatalf("a wake %v ago", now.Sub(w.At))
		}
	}
}

// Random input in any order from any peer.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Defaults()
		c.Neighbours = rapid.IntRange(2, 5).Draw(t, "neighbours")
		c.View = 2*c.Neighbours + rapid.IntRange(1, 20).Draw(t, "view")
		c.Rule = rapid.SampledFrom([]string{"universal", "probabilistic", "change_sensitive",
			"probabilistic*change_sensitive"}).Draw(t, "rule")
		g, fx := new(New(id(0), &c, grid.NewRand(rapid.Uint64().Draw(t, "seed"), 0))), new(grid.Effects)
		now := grid.Time(0)
		g.Start(now, adOf(0, 1), fx)
		last := map[grid.NodeID]grid.Time{}
		node := rapid.IntRange(0, 40)
		said := uint64(1)
		wakes := slices.Clone(fx.Wakes)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			fx.Reset()
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 300, 1000, 10_000, 70_000}).Draw(t,
				"ms")) * time.Millisecond)
			leaving := false
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				g.Up(now, id(node.Draw(t, "up")), time.Duration(rapid.IntRange(0, 50).Draw(t, "rtt"))*time.Millisecond, fx)
			case 1:
				g.Down(now, id(node.Draw(t, "down")), fx)
			case 2, 3:
				var d []grid.AdEntry
				for range rapid.IntRange(0, 70).Draw(t, "ads") {
					ad := adOf(node.Draw(t, "of"), rapid.Float64Range(0, 1).Draw(t, "free"))
					ad.Seq.N = rapid.Uint64Range(0, 20).Draw(t, "seq")
					ad.Leaving = rapid.IntRange(0, 9).Draw(t, "bye") == 0
					if ad.Leaving {
						delete(last, ad.Node) // and may be met again in the same digest
					}
					ad.Sealed = make([]byte, rapid.IntRange(0, 5000).Draw(t, "size"))
					d = append(d, grid.AdEntry{Ad: ad, Hops: rapid.Uint8().Draw(t, "hops")})
				}
				g.Hear(now, id(node.Draw(t, "from")), d, fx, func(*Peer) {})
			case 4:
				ad := adOf(0, rapid.Float64Range(0, 1).Draw(t, "own"))
				said++
				ad.Seq.N = said / 2
				g.Advertise(now, ad, fx)
			case 5:
				g.Heard(now, id(node.Draw(t, "heard")), time.Millisecond)
			case 6: // every timer that is due, and stale ones
				for _, w := range slices.Clone(wakes) {
					if w.At <= now {
						g.Wake(now, w.Timer, fx)
					}
				}
				wakes = slices.DeleteFunc(wakes, func(w grid.Wake) bool { return w.At <= now })
			}
			wakes = append(wakes, fx.Wakes...)
			holds(t, g, fx, last, now, leaving)
		}
	})
}

func TestConfig(t *testing.T) {
	if err := Defaults().Check(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	err := Config{}.Check()
	if u, ok := err.(interface{ Unwrap() []error }); !ok || len(u.Unwrap()) < 10 {
		t.Errorf("a zero configuration has these problems: %v; want each named", err)
	}
	for _, s := range []string{"", "gossip", "universal*", "universal probabilistic"} {
		c := Defaults()
		c.Rule = s
		if c.Check() == nil {
			t.Errorf("rule %q is taken", s)
		}
	}
	c := Defaults()
	c.Rule = "change_sensitive * universal"
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

func TestChance(t *testing.T) {
	c := Defaults()
	r, err := parseRule(c.Rule)
	if err != nil {
		t.Fatal(err)
	}
	g := Gossip{cfg: &c, rule: r}
	old, ad := adOf(1, 0.5), adOf(1, 0.45)
	p := &Peer{Ad: ad, Hops: 1}
	now := grid.Time(time.Hour)
	for _, w := range []struct {
		hops uint8
		sent *grid.Ad
		at   grid.Time
		want float64
	}{
		{1, nil, never, 0.6}, {2, nil, never, 0.36}, {4, nil, never, 0.1296}, {5, nil, never, 0.1}, {64, nil, never, 0.1},
		{1, old, now, 0},                // 0.05 of a change
		{1, adOf(1, 0.6), now, 0.6},     // 0.15
		{1, old, now.Add(-c.Tmax), 0.6}, // long ago
		{1, old, now.Add(-c.Tmax + 1), 0},
	} {
		p.Hops, p.sent, p.sentAt = w.hops, w.sent, w.at
		if got := r.chance(&g, now, p); got < w.want-1e-9 || got > w.want+1e-9 {
			t.Errorf("%d hops, sent %v: chance %g, want %g", w.hops, w.sent != nil, got, w.want)
		}
	}
}

package gossip

import (
	"testing"
	"time"

	"skep/grid"
)

func TestNewConnectionIsToldWhatIsNear(t *testing.T) {
	c := Defaults()
	c.Exchange = 5
	g, fx := started(t, c, 2)
	g.Hear(grid.Time(3*time.Second), id(1), []grid.AdEntry{{Ad: adOf(20, 1), Hops: 1}, {Ad: adOf(21, 1), Hops: 2},
		{Ad: adOf(22, 1), Hops: 3}, {Ad: adOf(23, 1), Hops: 9}}, fx, nil)
	fx.Reset()
	now := grid.Time(10 * time.Second)
	g.Up(now, id(30), time.Millisecond, fx)
	if len(fx.Sends) != 1 || fx.Sends[0].To != id(30) || len(fx.Links) != 1 || !fx.Links[0].Keep {
		t.Fatalf("sends %+v, links %+v: want one greeting and one neighbour", fx.Sends, fx.Links)
	}
	hops := []uint8{0, 1, 1, 2, 3} // own, the two connected, what came 2 and 3 links
	for i, e := range fx.Sends[0].Msg.Digest {
		if i >= len(hops) || e.Hops != hops[i] || e.Ad.Node == id(30) {
			t.Errorf("entry %d is %v of %d hops", i, e.Ad.Node.Short(), e.Hops)
		}
	}
	if n := len(fx.Sends[0].Msg.Digest); n != len(hops) {
		t.Errorf("%d entries, want %d", n, len(hops))
	}
	// A peer that reconnects at once gets no second exchange.
	fx.Reset()
	g.Down(now.Add(10*time.Millisecond), id(30), fx)
	g.Up(now.Add(20*time.Millisecond), id(30), time.Millisecond, fx)
	if len(fx.Sends) != 0 {
		t.Errorf("%d digests within MinGap", len(fx.Sends))
	}
}

// full returns a node that has all the neighbours it accepts, and one connected stranger, 99.
func full(t *testing.T, c Config) (*Gossip, *grid.Effects) {
	g, fx := started(t, c, c.Neighbours)
	for i := c.Neighbours + 1; i <= 2*c.Neighbours; i++ {
		g.Up(0, id(i), 0, fx)
		for n := range uint64(2) { // the second is of one that counts us
			g.Hear(0, id(i), []grid.AdEntry{{Ad: seq(adOf(i, 1), n+1)}}, fx, nil)
		}
	}
	if len(g.Neighbours()) != 2*c.Neighbours {
		t.Fatalf("%d neighbours, want %d", len(g.Neighbours()), 2*c.Neighbours)
	}
	g.Up(0, id(99), 0, fx)
	fx.Reset()
	return g, fx
}

func TestStrangerIsAnsweredNowAndThen(t *testing.T) {
	c := Defaults()
	g, fx := full(t, c)
	answered, late := 0, 0
	for n := range uint64(40) { // 20 minutes, a digest every Refresh
		now := grid.Time(c.Refresh) * grid.Time(n+1)
		g.Hear(now, id(99), []grid.AdEntry{{Ad: seq(adOf(99, 1), n+1)}}, fx, nil)
		for _, s := range fx.Sends {
			if s.To != id(99) {
				continue
			}
			answered++
			if n >= 20 {
				late++
			}
		}
		fx.Reset()
		if n == 1 && answered != 1 {
			t.Errorf("its second digest was answered %d times, want once", answered)
		}
	}
	if g.Peer(id(99)).Neighbour || answered > 14 || late < 4 || late > 5 {
		t.Errorf("answered %d times in 40 Refreshes, %d times in the last 20: want every fourth at last", answered, late)
	}
}

func TestTwoStrangersFallSilent(t *testing.T) {
	c := Defaults()
	a, fa := full(t, c)
	b, fb := full(t, c)
	b.self = id(99) // each is the other's stranger; only who speaks matters here
	a.Hear(0, id(99), []grid.AdEntry{{Ad: adOf(70, 1)}}, fa, nil)
	exchanged := 0
	for n := range uint64(100) {
		now := grid.Time(5*c.Refresh) * grid.Time(n+1)
		for _, g := range []*Gossip{a, b} {
			fx := map[*Gossip]*grid.Effects{a: fa, b: fb}[g]
			other, of := b, fb
			if g == b {
				other, of = a, fa
			}
			sends := append([]grid.Send(nil), fx.Sends...)
			fx.Reset()
			for _, s := range sends {
				if s.To == id(99) {
					exchanged++
					other.Hear(now, id(99), s.Msg.Digest, of, nil)
				}
			}
		}
	}
	if exchanged > 6 {
		t.Errorf("two strangers told each other something %d times", exchanged)
	}
}

func TestNeighbourThatSaysNothingIsReplaced(t *testing.T) {
	g, fx := started(t, Defaults(), 8)
	for s := 30; s <= 180; s += 30 {
		now := grid.Time(s) * grid.Time(time.Second)
		for i := 1; i <= 8; i++ {
			if i != 4 {
				g.Hear(now, id(i), []grid.AdEntry{{Ad: seq(adOf(i, 1), uint64(s))}}, fx, nil)
			}
		}
		if s > 120 { // until then there is nobody to take its place
			g.Hear(now, id(1), []grid.AdEntry{{Ad: seq(adOf(40, 1), uint64(s)), Hops: 1}}, fx, nil)
		} else if !g.Peer(id(4)).Neighbour {
			t.Fatal("replaced by nobody")
		}
		g.Wake(now, grid.Timer{Kind: grid.TimerRefresh}, fx)
	}
	if g.Peer(id(4)).Neighbour || !g.Peer(id(40)).Neighbour {
		t.Error("a silent neighbour is still one though another is known")
	}
}

func TestNeighbourThatGoesDownIsReplacedAtOnce(t *testing.T) {
	g, fx := started(t, Defaults(), 8)
	now := grid.Time(5 * time.Second)
	g.Down(now, id(3), fx)
	if len(fx.Links) != 0 || !g.Peer(id(3)).Neighbour || len(g.Neighbours()) != 7 {
		t.Errorf("links %+v: want it kept while nobody else is known", fx.Links)
	}
	g.Hear(now, id(1), []grid.AdEntry{{Ad: adOf(40, 1), Hops: 1}}, fx, nil)
	fx.Reset()
	g.Down(now, id(5), fx)
	if len(fx.Links) != 2 || fx.Links[0] != (grid.Link{Peer: id(5)}) ||
		fx.Links[1] != (grid.Link{Peer: id(40), Keep: true}) {
		t.Errorf("links %+v: want the known one in its place", fx.Links)
	}
	if g.Peer(id(5)) == nil || g.Peer(id(5)).Up {
		t.Error("who went down is forgotten, or taken for connected")
	}
}

func TestRoundTripIsSmoothed(t *testing.T) {
	g, _ := started(t, Defaults(), 1)
	g.Heard(7, id(1), 90*time.Millisecond)
	if p := g.Peer(id(1)); p.RTT != 20*time.Millisecond || p.Fresh() != 7 {
		t.Errorf("round trip %v, fresh at %d: want an eighth of the way from 10 ms to 90", p.RTT, p.Fresh())
	}
	g.Heard(8, id(1), 0)
	g.Heard(8, id(77), time.Second)
	if p := g.Peer(id(1)); p.RTT != 20*time.Millisecond || g.Peer(id(77)) != nil {
		t.Error("what was not measured, or is not known, counts")
	}
}

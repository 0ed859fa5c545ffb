package gossip

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// started returns one node that is connected to n others, which have sent their ads.
func started(t *testing.T, c Config, n int) (*Gossip, *grid.Effects) {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	g, fx := new(New(id(0), &c, grid.NewRand(1, 1))), new(grid.Effects)
	g.Start(0, adOf(0, 1), fx)
	for i := 1; i <= n; i++ {
		g.Up(0, id(i), 10*time.Millisecond, fx)
		g.Hear(0, id(i), []grid.AdEntry{{Ad: adOf(i, 1)}}, fx, nil)
	}
	for range 20 { // what that left to be said
		g.Wake(grid.Time(2*time.Second), grid.Timer{Kind: grid.TimerGossip}, fx)
	}
	g.seek, g.wakeAt = seek{at: grid.Never, again: grid.Never}, grid.Never // and no more neighbours are sought
	fx.Reset()
	return g, fx
}

func seq(ad *grid.Ad, n uint64) *grid.Ad {
	ad.Seq.N = n
	return ad
}

func TestNewsOnce(t *testing.T) {
	c := Defaults()
	c.Rule = "universal"
	g, fx := started(t, c, 3)
	now := grid.Time(10 * time.Second)
	heard := 0
	news := func(p *Peer) {
		heard++
		if p.Node() != id(9) || p.Hops != 3 || p.Heard != now {
			t.Errorf("news of %+v", p)
		}
	}
	d := []grid.AdEntry{{Ad: seq(adOf(9, 1), 5), Hops: 2}}
	g.Hear(now, id(1), d, fx, news)
	if len(fx.Sends) != 2 || heard != 1 {
		t.Fatalf("%d sends, %d news: want it handed to the two others, once", len(fx.Sends), heard)
	}
	for _, s := range fx.Sends {
		if s.To == id(1) || len(s.Msg.Digest) != 1 || s.Msg.Digest[0].Ad != d[0].Ad || s.Msg.Digest[0].Hops != 3 {
			t.Errorf("sends %+v to %v", s.Msg.Digest, s.To.Short())
		}
	}
	fx.Reset()
	g.Hear(now.Add(5*time.Second), id(2), d, fx, news)                                            // again
	g.Hear(now.Add(5*time.Second), id(2), []grid.AdEntry{{Ad: seq(adOf(9, 0.5), 4)}}, fx, news)   // older
	g.Hear(now.Add(5*time.Second), id(2), []grid.AdEntry{{Ad: d[0].Ad, Hops: 1}}, fx, news)       // nearer
	g.Hear(now.Add(5*time.Second), id(2), []grid.AdEntry{{Ad: seq(adOf(0, 1), 1)}, {}}, fx, news) // mine, none
	g.Hear(now.Add(5*time.Second), id(2), []grid.AdEntry{{Ad: seq(adOf(0, 1), 99)}}, fx, news)    // in my name
	g.Hear(now.Add(5*time.Second), id(2), []grid.AdEntry{{Ad: &grid.Ad{Speed: 1}}}, fx, news)     // nobody's
	if len(fx.Sends) != 0 || heard != 1 || g.Peer(id(9)).Hops != 2 {
		t.Errorf("%d sends, %d news, %d hops: want nothing of it", len(fx.Sends), heard, g.Peer(id(9)).Hops)
	}
	if s := g.Stats(); s.Repeated != 3 || s.Dropped != (Dropped{Bad: 2, Own: 1, Clone: 1}) {
		t.Errorf("stats %+v", s)
	}
	// The next own ad is above one in this node's name from elsewhere.
	g.Advertise(now.Add(9*time.Second), adOf(0, 0.5), fx)
	if got := g.Ad().Seq; !(grid.Seq{Boot: 1, N: 99}).Less(got) {
		t.Errorf("own sequence %v: want it above 99", got)
	}
}

func TestHopsOfALiarAndOfTheFar(t *testing.T) {
	g, fx := started(t, Defaults(), 2)
	g.Hear(1, id(1), []grid.AdEntry{{Ad: adOf(8, 1), Hops: 0}, {Ad: adOf(9, 1), Hops: 255}}, fx, nil)
	if h := g.Peer(id(8)).Hops; h != 2 {
		t.Errorf("an ad of another, claimed to be 0 hops old, has %d, want 2", h)
	}
	if h := g.Peer(id(9)).Hops; h != grid.MaxHops {
		t.Errorf("hops %d: want them to end at %d", h, grid.MaxHops)
	}
	g.Hear(2, id(1), []grid.AdEntry{{Ad: seq(adOf(1, 1), 2), Hops: 7}}, fx, nil)
	if p := g.Peer(id(1)); p.Hops != 1 || p.Fresh() != 2 {
		t.Errorf("an ad from its origin has %d hops and is fresh at %d", p.Hops, p.Fresh())
	}
}

func TestDigestIsBoundedAndSpaced(t *testing.T) {
	c := Defaults()
	c.Rule, c.Exchange = "universal", 0
	g, fx := started(t, c, 2)
	var d []grid.AdEntry
	for i := range 100 {
		ad := adOf(10+i, 1)
		ad.Sealed = make([]byte, 1000)
		d = append(d, grid.AdEntry{Ad: ad})
	}
	now := grid.Time(10 * time.Second)
	g.Hear(now, id(1), d, fx, nil)
	if g.Stats().Dropped.Excess != 36 {
		t.Errorf("%d beyond the bound of a digest, want 36", g.Stats().Dropped.Excess)
	}
	sent, last := 0, grid.Time(0)
	for steps := 0; sent < 64 && steps < 20; steps++ {
		for _, s := range fx.Sends {
			size := 0
			for _, e := range s.Msg.Digest {
				size += len(e.Ad.Sealed)
			}
			if s.To != id(2) || size > int(grid.MaxDigest) || now.Sub(last) < c.MinGap {
				t.Fatalf("digest of %d bytes to %v after %v", size, s.To.Short(), now.Sub(last))
			}
			last = now
			sent += len(s.Msg.Digest)
		}
		if sent < 64 && len(fx.Wakes) == 0 {
			t.Fatalf("%d of 64 sent and no timer set", sent)
		}
		w := fx.Wakes
		fx.Reset()
		if len(w) > 0 {
			now = w[0].At
			g.Wake(now, w[0].Timer, fx)
		}
	}
	if sent != 64 {
		t.Errorf("%d ads sent on, want 64", sent)
	}
}

func TestOnlyTheNewestOfAnOriginIsSent(t *testing.T) {
	c := Defaults()
	c.Rule = "universal"
	g, fx := started(t, c, 2)
	now := grid.Time(10 * time.Second)
	for n := range uint64(5) {
		g.Hear(now.Add(time.Duration(n)*time.Millisecond), id(1), []grid.AdEntry{{Ad: seq(adOf(9, 1), n+1)}}, fx, nil)
	}
	if len(fx.Sends) != 1 {
		t.Fatalf("%d digests at once, want 1", len(fx.Sends))
	}
	wake := fx.Wakes[len(fx.Wakes)-1]
	fx.Reset()
	g.Wake(wake.At-1, wake.Timer, fx)
	if len(fx.Sends) != 0 {
		t.Error("an early wake was taken for the one set")
	}
	g.Wake(wake.At, wake.Timer, fx)
	if len(fx.Sends) != 1 || len(fx.Sends[0].Msg.Digest) != 1 || fx.Sends[0].Msg.Digest[0].Ad.Seq.N != 5 {
		t.Errorf("sends %+v, want the fifth ad alone", fx.Sends)
	}
}

func TestOwnAdIsHeldBack(t *testing.T) {
	g, fx := started(t, Defaults(), 2)
	at := func(s float64) grid.Time { return grid.Time(s * 1e9) }
	say := func(s, free float64) int {
		fx.Reset()
		g.Advertise(at(s), adOf(0, free), fx)
		return len(fx.Sends)
	}
	if n := say(5, 0.95); n != 0 {
		t.Errorf("a change of 0.05 went to %d", n)
	}
	if n := say(6, 0.85); n != 2 {
		t.Errorf("a change of 0.15 went to %d, want both", n)
	}
	if n := say(6.2, 0.4); n != 0 || len(fx.Wakes) != 1 || fx.Wakes[0].At != at(7) {
		t.Errorf("a second within MinGap: %d sends, wakes %v", n, fx.Wakes)
	}
	if n := say(6.4, 0.85); n != 0 {
		t.Errorf("and back: %d sends", n)
	}
	fx.Reset()
	g.Wake(at(7), grid.Timer{Kind: grid.TimerGossip}, fx)
	if len(fx.Sends) != 0 {
		t.Error("what changed and changed back was sent")
	}
	before := g.Ad().Seq
	for range 2 { // the refresh, whatever its jitter
		g.Wake(at(60), grid.Timer{Kind: grid.TimerRefresh}, fx)
	}
	if len(fx.Sends) != 2 || fx.Sends[0].Msg.Digest[0].Ad.Seq.Less(before) {
		t.Errorf("refresh: %d sends, want 2 of a newer sequence", len(fx.Sends))
	}
}

func TestLeaving(t *testing.T) {
	g, fx := started(t, Defaults(), 3)
	bye := seq(adOf(9, 1), 7)
	now := grid.Time(5 * time.Second)
	g.Hear(now, id(1), []grid.AdEntry{{Ad: seq(adOf(9, 1), 6)}}, fx, nil)
	fx.Reset()
	bye.Leaving = true
	told := false
	g.Hear(now.Add(2*time.Second), id(1), []grid.AdEntry{{Ad: bye, Hops: 1}}, fx, func(p *Peer) { told = p.Ad.Leaving })
	if !told || g.Peer(id(9)) != nil || len(fx.Sends) != 2 {
		t.Errorf("told %v, known %v, %d sends: want it forgotten and the two others told", told, g.Peer(id(9)), len(fx.Sends))
	}
	fx.Reset()
	g.Hear(now.Add(4*time.Second), id(2), []grid.AdEntry{{Ad: seq(adOf(9, 1), 6), Hops: 2}, {Ad: bye, Hops: 2}}, fx, nil)
	if g.Peer(id(9)) != nil || len(fx.Sends) != 0 {
		t.Error("an old ad brought back one who has left, or its farewell went on twice")
	}
	back := adOf(9, 1)
	back.Seq = grid.Seq{Boot: 2}
	g.Hear(now.Add(5*time.Second), id(2), []grid.AdEntry{{Ad: back}}, fx, nil)
	if g.Peer(id(9)) == nil {
		t.Error("one who left and came back is not known")
	}
	// The own farewell is sent at once and is the last ad.
	g.Advertise(now.Add(6*time.Second), adOf(0, 0.2), fx)
	fx.Reset()
	own := *adOf(0, 1)
	own.Leaving = true
	g.Advertise(now.Add(6*time.Second), &own, fx)
	if len(fx.Sends) != 3 || !fx.Sends[0].Msg.Digest[0].Ad.Leaving {
		t.Errorf("own farewell: %d sends, want 3", len(fx.Sends))
	}
	fx.Reset()
	g.Wake(now.Add(time.Hour), grid.Timer{Kind: grid.TimerRefresh}, fx)
	g.Advertise(now.Add(time.Hour), adOf(0, 1), fx)
	if len(fx.Sends)+len(fx.Wakes) != 0 {
		t.Error("it speaks after its farewell")
	}
}

func TestOriginThatLostCountIsShown(t *testing.T) {
	g, fx := started(t, Defaults(), 2)
	known := seq(adOf(1, 1), 50)
	g.Hear(1, id(1), []grid.AdEntry{{Ad: known}}, fx, nil)
	fx.Reset()
	g.Hear(grid.Time(5*time.Second), id(1), []grid.AdEntry{{Ad: seq(adOf(1, 1), 3)}}, fx, nil)
	if len(fx.Sends) != 1 || fx.Sends[0].To != id(1) || fx.Sends[0].Msg.Digest[0].Ad != known {
		t.Errorf("sends %+v: want the newer ad shown to its origin", fx.Sends)
	}
}

// A node that leaves and is back before its connection was seen to end gets what others get; not one whose connection
// has ended, of which a late digest comes.
func TestBackBeforeItsConnectionEnded(t *testing.T) {
	for _, ended := range []bool{false, true} {
		c := Defaults()
		g, fx := started(t, c, 3)
		now := grid.Time(10 * time.Second)
		bye := seq(adOf(1, 1), 7)
		bye.Leaving = true
		g.Hear(now, id(1), []grid.AdEntry{{Ad: bye}}, fx, nil)
		if ended {
			g.Down(now, id(1), fx)
		}
		fx.Reset()
		back := adOf(1, 1)
		back.Seq.Boot++
		g.Hear(now.Add(c.MinGap), id(1), []grid.AdEntry{{Ad: back}}, fx, nil)
		told := slices.ContainsFunc(fx.Sends, func(s grid.Send) bool { return s.To == id(1) })
		if is := slices.Contains(g.Neighbours(), id(1)); is == ended || told == ended {
			t.Errorf("connection ended %v: neighbour %v, told %v", ended, is, told)
		}
	}
}

// A node that says again and again that it leaves and is back is not told of all others each time.
func TestFlappingNodeIsToldOnce(t *testing.T) {
	c := Defaults()
	g, fx := started(t, c, 30)
	now := grid.Time(10 * time.Second)
	told := 0
	for n := uint64(7); n < 200; n += 2 {
		bye, back := seq(adOf(1, 1), n), seq(adOf(1, 1), n+1)
		bye.Leaving = true
		fx.Reset()
		g.Hear(now, id(1), []grid.AdEntry{{Ad: bye}, {Ad: back}}, fx, nil)
		now = now.Add(c.MinGap / 50)
		for _, s := range fx.Sends {
			if s.To == id(1) {
				told++
			}
		}
	}
	if told > 3 {
		t.Errorf("told %d times in two MinGap", told)
	}
}

package gossip

import (
	"testing"
	"time"

	"skep/grid"
)

func TestHostileFloodEvictsNoConnected(t *testing.T) {
	c := Defaults()
	c.View = 64
	g, fx := started(t, c, 10)
	now := grid.Time(time.Second)
	for i := range 50 { // honest ones, heard of
		g.Hear(now, id(1+i%10), []grid.AdEntry{{Ad: adOf(100+i, 1), Hops: 1}}, fx, nil)
	}
	flood := make([]grid.AdEntry, 64)
	for round := range 200 {
		now = now.Add(100 * time.Millisecond)
		for j := range flood {
			ad := adOf(1000+round*64+j, 1)
			ad.Capacity = grid.Resources{CPU: grid.MaxMillis, Memory: grid.MaxMemory}
			ad.Speed = 1e6
			flood[j] = grid.AdEntry{Ad: ad}
		}
		g.Hear(now, id(3), flood, fx, nil)
		fx.Reset()
	}
	if len(g.Peers()) > c.View {
		t.Errorf("%d in the view, want at most %d", len(g.Peers()), c.View)
	}
	honest := 0
	for i := range 10 {
		if p := g.Peer(id(i + 1)); p == nil || !p.Up {
			t.Errorf("connected peer %d was evicted", i+1)
		}
	}
	for i := range 50 {
		if g.Peer(id(100+i)) != nil {
			honest++
		}
	}
	if honest < 50-10-c.View/8 {
		t.Errorf("%d of 50 honest ones are left after 20 s of 12,800 made-up ones", honest)
	}
	t.Logf("%d of 50 honest ones left, %+v", honest, g.Stats().Dropped)
}

func TestSteadyHearAllocatesNothing(t *testing.T) {
	g, fx := started(t, Defaults(), 8)
	var d []grid.AdEntry
	for i := range 40 {
		d = append(d, grid.AdEntry{Ad: adOf(20+i, 1), Hops: 1})
	}
	now := grid.Time(time.Second)
	g.Hear(now, id(1), d, fx, nil)
	if n := testing.AllocsPerRun(100, func() {
		now = now.Add(2 * time.Second)
		fx.Reset()
		g.Hear(now, id(2), d, fx, nil)
		g.Wake(now, grid.Timer{Kind: grid.TimerGossip}, fx)
	}); n != 0 {
		t.Errorf("%g allocations for a digest of nothing new", n)
	}
	n := uint64(1)
	if a := testing.AllocsPerRun(100, func() {
		now = now.Add(2 * time.Second)
		fx.Reset()
		n++
		d[0].Ad.Seq.N = n // in place only here, to allocate nothing
		g.Peer(d[0].Ad.Node).Ad = d[1].Ad
		g.Hear(now, id(2), d[:1], fx, nil)
	}); a > 1 {
		t.Errorf("%g allocations for one news", a)
	}
}

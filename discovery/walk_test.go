package discovery

import (
	"testing"
	"time"

	"skep/grid"
)

func find(walk uint64) *grid.Find {
	return &grid.Find{ID: walk, Asker: id(50), Needs: *need(2000, 0, label("os", "linux")), Engine: "process", Left: 8,
		Hops:   2,
		Within: time.Second, Visited: ids(51, 52)}
}

func TestFindIsHandedOnOnce(t *testing.T) {
	d, fx := made(0, Defaults()), new(grid.Effects)
	near := append(ids(1, 3), id(50), id(51))
	f := find(7)
	d.Find(0, id(1), f, near, nobody, fx)
	s := sent(t, fx, grid.KindFind)
	g := s.Msg.Find
	if s.To != id(2) && s.To != id(3) {
		t.Errorf("handed to %v: want neither sender, asker nor one visited", s.To.Short())
	}
	if g.Left != 7 || g.Hops != 3 || g.ID != 7 || g.Asker != id(50) || len(g.Visited) != 3 || g.Visited[2] != id(0) {
		t.Errorf("handed on %+v", g)
	}
	f.Needs.Labels[0].Values[0] = "gone" // the event's memory is used again
	if g.Needs.Labels[0].Values[0] != "linux" {
		t.Error("what is sent lies in the event's memory")
	}
	fx.Reset()
	d.Find(1, id(1), find(7), near, nobody, fx)
	if len(fx.Sends) != 0 {
		t.Error("a repeated message is answered")
	}
	d.Find(1, id(2), find(7), near, nobody, fx)
	if s := sent(t, fx, grid.KindMiss); s.To != id(50) || s.Msg.Find.ID != 7 {
		t.Errorf("a walk that came back: %+v", s)
	}
	fx.Reset()
	d.Find(at(130), id(2), find(7), near, nobody, fx)
	sent(t, fx, grid.KindFind) // long forgotten
}

func TestFindEnds(t *testing.T) {
	near := ids(1, 3)
	for name, c := range map[string]struct {
		change func(*grid.Find)
		near   []grid.NodeID
		kind   grid.Kind
	}{
		"hops used up":      {func(f *grid.Find) { f.Left = 1 }, near, grid.KindMiss},
		"none left":         {func(f *grid.Find) { f.Left = 0 }, near, grid.KindMiss},
		"no time":           {func(f *grid.Find) { f.Within = 0 }, near, grid.KindMiss},
		"dead end":          {func(f *grid.Find) {}, ids(1, 1), grid.KindMiss},
		"all were visited":  {func(f *grid.Find) { f.Visited = near }, near, grid.KindMiss},
		"own walk":          {func(f *grid.Find) { f.Asker = id(0) }, near, 0},
		"no asker":          {func(f *grid.Find) { f.Asker = grid.NodeID{} }, near, 0},
		"no ID":             {func(f *grid.Find) { f.ID = 0 }, near, 0},
		"impossible needs":  {func(f *grid.Find) { f.Needs.CPU = -1 }, near, 0},
		"hops beyond bound": {func(f *grid.Find) { f.Left, f.Hops = 255, 255 }, near, grid.KindFind},
		"many visited":      {func(f *grid.Find) { f.Visited = ids(100, 200) }, near, grid.KindFind},
	} {
		d, fx := made(0, Defaults()), new(grid.Effects)
		f := find(9)
		c.change(f)
		d.Find(0, id(1), f, c.near, nobody, fx)
		if c.kind == 0 {
			if len(fx.Sends) != 0 {
				t.Errorf("%s: sends %+v", name, fx.Sends)
			}
			continue
		}
		g := sent(t, fx, c.kind).Msg.Find
		if g.Left > 15 || g.Hops > grid.MaxHops || len(g.Visited) > grid.MaxVisited {
			t.Errorf("%s: %d left, %d hops, %d visited", name, g.Left, g.Hops, len(g.Visited))
		}
	}
}

func TestFindHits(t *testing.T) {
	d, fx := made(0, Defaults()), new(grid.Effects)
	known := adOf(id(0))
	local := func(*grid.Needs, string) *grid.Ad { return known }
	d.Find(0, id(1), find(9), ids(1, 3), local, fx)
	s := sent(t, fx, grid.KindHit)
	if s.To != id(50) || s.Msg.Find.ID != 9 || s.Msg.Find.Hops != 3 || len(s.Msg.Digest) != 1 ||
		s.Msg.Digest[0].Ad != known {
		t.Errorf("hit %+v", s)
	}
	fx.Reset()
	known = adOf(id(5)) // it is asked itself: the ad may be old
	d.Find(0, id(1), find(90), ids(1, 3), local, fx)
	if s := sent(t, fx, grid.KindFind); s.To != id(5) {
		t.Errorf("the walk goes to %v, want to the one that fits by its ad", s.To.Short())
	}
	for name, ad := range map[string]*grid.Ad{"one that was there": adOf(id(51)), "the asker itself": adOf(id(50)),
		"a draining one": adOf(id(6)), "an unfit one": adOf(id(7))} {
		ad.Draining = ad.Node == id(6)
		if ad.Node == id(7) {
			ad.Engines = nil
		}
		known = ad
		fx.Reset()
		d.Find(0, id(1), find(10+binaryOf(ad.Node)), ids(1, 3), local, fx)
		if s := fx.Sends[0]; s.Msg.Kind != grid.KindFind || s.To != id(2) && s.To != id(3) {
			t.Errorf("%s: %v", name, s.Msg.Kind)
		}
	}
}

func binaryOf(n grid.NodeID) uint64 { return uint64(n[3]) }

func TestPeerThatAsksTooMuch(t *testing.T) {
	d, fx := made(0, Defaults()), new(grid.Effects)
	for i := range 1000 {
		d.Find(at(float64(i)/1000), id(1), find(uint64(i+1)), ids(1, 3), nobody, fx)
	}
	if n := len(fx.Sends); n < 40 || n > 60 {
		t.Errorf("%d of 1000 finds in a second were handled, want the burst of 40 and 20", n)
	}
	fx.Reset()
	d.Find(at(1), id(2), find(5000), ids(1, 3), nobody, fx)
	if len(fx.Sends) != 1 {
		t.Error("another peer pays for it")
	}
}

func TestCallIsAnsweredLater(t *testing.T) {
	c := Defaults()
	var delays []time.Duration
	for i := range 40 {
		d, fx := made(i, c), new(grid.Effects)
		own := adOf(id(i))
		local := func(*grid.Needs, string) *grid.Ad { return own }
		d.Call(0, id(50), find(0xff), local, fx)
		d.Call(0, id(50), find(0xff), local, fx) // repeated
		if len(fx.Sends) != 0 || len(fx.Wakes) != 1 {
			t.Fatalf("%d sends, %d wakes: want one wake", len(fx.Sends), len(fx.Wakes))
		}
		w := fx.Wakes[0]
		delays = append(delays, w.At.Sub(0))
		d.Wake(w.At, w.Timer, nil, local, fx)
		if s := sent(t, fx, grid.KindHit); s.To != id(50) || s.Msg.Find.ID != 0xff || s.Msg.Digest[0].Ad != own {
			t.Errorf("answer %+v", s)
		}
		fx.Reset()
		d.Wake(w.At, w.Timer, nil, local, fx)
		if len(fx.Sends) != 0 {
			t.Error("answered twice")
		}
	}
	late := 0
	for _, w := range delays {
		if w > c.CallDelay {
			t.Errorf("answer after %v", w)
		}
		if w > c.CallDelay/2 {
			late++
		}
	}
	if late < 8 || late > 32 {
		t.Errorf("%d of 40 answers in the second half of the delay", late)
	}
}

func TestCallIsNotAnswered(t *testing.T) {
	d, fx := made(0, Defaults()), new(grid.Effects)
	other := func(*grid.Needs, string) *grid.Ad { return adOf(id(3)) }
	self := func(*grid.Needs, string) *grid.Ad { return adOf(id(0)) }
	d.Call(0, id(50), find(1), other, fx)  // that one hears it too
	d.Call(0, id(50), find(2), nobody, fx) // nobody
	d.Call(0, id(49), find(3), self, fx)   // in another's name
	if len(fx.Wakes) != 0 {
		t.Errorf("wakes %v", fx.Wakes)
	}
	d.Call(0, id(50), find(4), self, fx)
	d.Wake(at(1), fx.Wakes[0].Timer, nil, nobody, fx) // it can no longer
	if len(fx.Sends) != 0 {
		t.Errorf("sends %+v", fx.Sends)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	c := Defaults()
	c.SeenMax, c.Rate, c.Burst = 100, 1e6, 1e6
	d, fx := made(0, c), new(grid.Effects)
	self := func(*grid.Needs, string) *grid.Ad { return adOf(id(0)) }
	for i := range 5000 {
		fx.Reset()
		d.Find(at(float64(i)/100), id(1000+i), find(uint64(i+1)), ids(1, 3), nobody, fx)
		f := find(uint64(100_000 + i))
		f.Asker = id(1000 + i)
		d.Call(at(float64(i)/100), f.Asker, f, self, fx)
	}
	if d.seen.Len() > 100 || len(d.limits) > maxBuckets || len(d.answers) > maxAnswers {
		t.Errorf("seen %d, limits %d, answers %d", d.seen.Len(), len(d.limits), len(d.answers))
	}
}

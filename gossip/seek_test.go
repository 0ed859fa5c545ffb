package gossip

import (
	"testing"
	"time"

	"skep/grid"
)

// wakes steps a node through its TimerGossips until a time, and returns when it sent its own ad to a peer.
func wakes(g *Gossip, fx *grid.Effects, until time.Duration, peer grid.NodeID) (at []time.Duration) {
	for g.wakeAt <= grid.Time(until) {
		now := g.wakeAt
		fx.Reset()
		g.Wake(now, grid.Timer{Kind: grid.TimerGossip}, fx)
		for _, s := range fx.Sends {
			if s.To == peer && s.Msg.Digest[0].Ad.Node == g.self {
				at = append(at, time.Duration(now))
			}
		}
	}
	return at
}

// A node with too few neighbours tells them again, less and less often, and falls silent: there may be no more nodes.
func TestNodeSeeksNeighbours(t *testing.T) {
	c := Defaults()
	g, fx := new(New(id(0), &c, grid.NewRand(1, 1))), new(grid.Effects)
	g.Start(0, adOf(0, 1), fx)
	g.Up(0, id(1), time.Millisecond, fx)
	got := wakes(g, fx, 10*time.Minute, id(1))
	want := []time.Duration{1 * time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}
	if len(got) != len(want) {
		t.Fatalf("sent its ad at %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("sent its ad at %v, want %v", got, want)
		}
	}

	for i := 2; i <= c.Neighbours; i++ {
		g.Up(grid.Time(11*time.Minute), id(i), time.Millisecond, fx)
	}
	if got := wakes(g, fx, 20*time.Minute, id(1)); len(got) > 0 {
		t.Errorf("with enough neighbours it sent its ad at %v", got)
	}
}

// digestTo returns the last digest among the effects that goes to a peer.
func digestTo(fx *grid.Effects, peer grid.NodeID) []grid.AdEntry {
	for i := len(fx.Sends) - 1; i >= 0; i-- {
		if fx.Sends[i].To == peer {
			return fx.Sends[i].Msg.Digest
		}
	}
	return nil
}

// A stranger for which there is no room is told so, and turns to one of those that the answer names.
func TestDeclinedNodeTurnsToOthers(t *testing.T) {
	c := Defaults()
	busy, fx := full(t, c)
	now := grid.Time(5 * time.Second)
	for n := range uint64(2) {
		busy.Hear(now, id(99), []grid.AdEntry{{Ad: seq(adOf(99, 1), n+1)}}, fx, nil)
	}
	answer := append([]grid.AdEntry(nil), digestTo(fx, id(99))...)
	if len(answer) < 2 || answer[0].Hops != unlinked {
		t.Fatalf("the stranger is answered by %d ads: want the own one, which declines, and others", len(answer))
	}

	g, fx := new(New(id(99), &c, grid.NewRand(1, 1))), new(grid.Effects)
	g.Start(0, adOf(99, 1), fx)
	g.Up(0, id(0), time.Millisecond, fx)
	for i := 50; i < 57; i++ { // enough neighbours besides: those that the answer names are not sought otherwise
		g.Up(0, id(i), time.Millisecond, fx)
	}
	fx.Reset()
	g.Hear(now, id(0), answer, fx, nil)
	if g.Peer(id(0)).Neighbour || len(g.links) != c.Neighbours {
		t.Fatalf("declined, it counts the other as a neighbour: %v, and has %d", g.Peer(id(0)).Neighbour, len(g.links))
	}
	for _, l := range fx.Links {
		if l.Keep && (index(l.Peer) < 1 || index(l.Peer) > 2*c.Neighbours) {
			t.Errorf("it turns to %d, which the answer does not name", index(l.Peer))
		}
	}
}

// A neighbour that is dropped is told so at once, and drops the other too, or replaces it.
func TestDroppedNeighbourIsTold(t *testing.T) {
	c := Defaults()
	busy, fx := full(t, c)
	now := grid.Time(2 * c.Look)
	for i := 1; i <= 2*c.Neighbours; i++ { // none is silent
		busy.Hear(now, id(i), []grid.AdEntry{{Ad: seq(adOf(i, 1), 9)}}, fx, nil)
	}
	fx.Reset()
	now = now.Add(5 * time.Second)
	busy.look(now, fx)
	told := 0
	for _, l := range fx.Links {
		if l.Keep {
			continue
		}
		if d := digestTo(fx, l.Peer); len(d) == 1 && d[0].Ad.Node == id(0) && d[0].Hops == unlinked {
			told++
		}
	}
	if told != 1 || len(busy.links) != 2*c.Neighbours-1 {
		t.Errorf("%d neighbours are left and %d were told: want one dropped and told", len(busy.links), told)
	}
}

// A stranger whose second exchange names unknown nodes becomes a neighbour, even where there is no room.
func TestStrangerFromElsewhereBecomesNeighbour(t *testing.T) {
	for _, news := range []bool{true, false} {
		g, fx := full(t, Defaults())
		d := []grid.AdEntry{{Ad: adOf(99, 1), Hops: unlinked}, {Ad: adOf(1, 1), Hops: 1}}
		if news {
			d = append(d, grid.AdEntry{Ad: adOf(200, 1), Hops: 1})
		}
		g.Hear(grid.Time(5*time.Second), id(99), d, fx, nil)
		if g.Peer(id(99)).Neighbour != news || len(g.links) != 2*g.cfg.Neighbours {
			t.Errorf("news of unknown nodes %v: a neighbour %v, of %d", news, g.Peer(id(99)).Neighbour, len(g.links))
		}
	}
}

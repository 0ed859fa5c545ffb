package ports

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	libp2p "github.com/libp2p/go-libp2p/core/network"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// Listeners in place of ranks elsewhere are bounded over all attempts, and one that ends makes room.
func TestListenersAreBounded(t *testing.T) {
	proxies := sites(t, 1)[0].proxies
	proxies.shares.listeners.most = 3
	both := []network.Endpoint{{Rank: 0, Port: 80}, {Rank: 0, Port: 81}}
	first, _, other := idle(t, 1, proxies)
	first.remote[other] = both
	first.stand()
	second, _, _ := idle(t, 2, proxies)
	second.remote[other] = both
	second.stand()
	if len(first.standing) != 2 || len(second.standing) != 1 {
		t.Errorf("%d and %d listeners of 3: want 2 and 1", len(first.standing), len(second.standing))
	}
	first.remote[other] = nil
	first.stand()
	second.stand()
	if len(first.standing) != 0 || len(second.standing) != 2 {
		t.Errorf("%d and %d listeners after the first has ended: want 0 and 2", len(first.standing), len(second.standing))
	}
}

// flood is a stream on which one list after the other comes.
type flood struct {
	libp2p.Stream
	left  bytes.Buffer
	lists int
}

func (f *flood) Read(b []byte) (int, error) {
	if f.left.Len() == 0 {
		f.left.Write(encodeList([]network.Endpoint{{Rank: 0, Port: uint16(80 + f.lists%2)}}))
		f.lists++
	}
	return f.left.Read(b)
}

func (f *flood) Reset() error { return nil }

// A node that sends one list after the other has each read and followed no faster than this node looks itself, and
// a single one is followed at once.
func TestListsAreFollowedAtALimitedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proxies := New(t.Context(), Config{Self: grid.NodeID{1}, Log: slog.New(slog.DiscardHandler)})
		m, p, other := idle(t, 1, proxies)
		p.inTheWay = true
		m.work.Go(m.run)
		m.told <- heard{other, []network.Endpoint{{Rank: 0, Port: 80}}}
		synctest.Wait()
		if p.tries != 1 {
			t.Fatalf("%d tries to listen after the first list: want 1", p.tries)
		}
		const looks = 50
		f := &flood{}
		m.work.Go(func() { m.hear(other, f) })
		time.Sleep(looks * lookEvery)
		synctest.Wait()
		if f.lists < looks || f.lists > 2*looks+2 || p.tries < looks/2 || p.tries > looks+2 {
			t.Errorf("%d lists are read, and %d times followed, in the time of %d looks", f.lists, p.tries, looks)
		}
		m.work.Cancel()
		m.work.Wait()
	})
}

// A node on which no rank runs any more looks for no listeners, has none, and says so.
func TestRestingNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p, other := idle(t, 1, New(t.Context(), Config{Self: grid.NodeID{1}, Log: slog.New(slog.DiscardHandler)}))
		p.ranks[network.Endpoint{Rank: 1, Port: 80}] = nil
		m.work.Go(m.run)
		time.Sleep(10 * lookEvery)
		synctest.Wait()
		if p.looks < 9 || len(m.here) != 1 {
			t.Fatalf("%d looks, %v listen: want ten, and one", p.looks, m.here)
		}
		m.Rest(true)
		time.Sleep(lookEvery)
		synctest.Wait()
		p.looks = 0
		m.told <- heard{other, []network.Endpoint{{Rank: 0, Port: 80}}}
		time.Sleep(100 * lookEvery)
		if p.looks+p.tries > 0 || m.here != nil {
			t.Errorf("%d looks, %d listeners, %v listen here: want none", p.looks, p.tries, m.here)
		}
		p.inTheWay = true
		m.Rest(false)
		time.Sleep(lookEvery)
		synctest.Wait()
		if p.tries != 1 || len(m.here) != 1 {
			t.Errorf("%d listeners, %v listen when a rank starts again: want one each", p.tries, m.here)
		}
		m.work.Cancel()
		m.work.Wait()
	})
}

// At a node on which no rank runs any more nobody stands for others, nor elsewhere for those of that node.
func TestRestingNodeIsNotReached(t *testing.T) {
	pods, members := gang(t, 1, sites(t, 2)...)
	a, b := network.Endpoint{Rank: 0, Port: 80}, network.Endpoint{Rank: 1, Port: 80}
	pods[0].listen(t, a)
	pods[1].listen(t, b)
	pods[1].connect(t, a)
	pods[0].connect(t, b)
	members[1].Rest(true)
	rig.Await(t, "the end of the ports", func() bool { return !pods[1].reached(a) && !pods[0].reached(b) })
}

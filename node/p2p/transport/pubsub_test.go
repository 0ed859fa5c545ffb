package transport

import (
	"crypto/ed25519"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"skep/grid"
	"skep/internal/hostile"
	"skep/node/p2p/internal/rig"
)

// gossipAttacker joins a hostile member that speaks gossipsub.
func gossipAttacker(t testing.TB, a *testNode) (*hostile.Member, *hostile.Gossip) {
	t.Helper()
	m := rig.Attacker(t, a.token())
	g, err := m.Gossip(t.Context(), a.self)
	if err != nil {
		t.Fatal(err)
	}
	return m, g
}

// Topics without a subscriber here are not stored, however many a member names.
func TestForeignTopicsAreNotStored(t *testing.T) {
	a := openNode(t, nil)
	m, g := gossipAttacker(t, a)
	var names []string
	for i := range 64 {
		names = append(names, fmt.Sprintf("%s%03d", strings.Repeat("x", 100), i))
	}
	for batch := range slices.Chunk(names, 16) {
		if err := g.Send(&hostile.RPC{Subscribe: batch, Graft: batch}); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Send(&hostile.RPC{Subscribe: []string{m.Topic()}}); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the last of it was read",
		func() bool { return slices.Contains(a.announcer.topic.ListPeers(), m.Host().ID()) })
	for _, name := range names {
		if kept := a.announcer.ps.ListPeers(name); len(kept) > 0 {
			t.Fatalf("topic %s is kept for %v", name, kept)
		}
	}
	if !m.Connected(a.self) {
		t.Error("who names topics that a later version may have was cut off")
	}
}

// RPCs that no node sends are refused before they are decoded, and their sender is blocked.
func TestHostileGossip(t *testing.T) {
	long := strings.Repeat("x", 1000)
	tests := []struct {
		name, reason string
		say          func(*hostile.Member, *hostile.Gossip) error
	}{
		{"many empty messages", "size", func(_ *hostile.Member, g *hostile.Gossip) error {
			return g.Frame(slices.Repeat([]byte{2<<3 | 2, 0}, 16<<10))
		}},
		{"long ID, which is kept for two minutes", "size", func(m *hostile.Member, g *hostile.Gossip) error {
			x, err := m.Announcement([]byte{byte(grid.KindCall)<<3 | 2, 0})
			if err != nil {
				return err
			}
			x.Seqno = []byte(long)
			if err := m.Sign(x); err != nil {
				return err
			}
			return g.Send(&hostile.RPC{Publish: []*hostile.Published{x}})
		}},
		{"pause for ever", "size", func(m *hostile.Member, g *hostile.Gossip) error {
			return g.Send(&hostile.RPC{Prune: []string{m.Topic()}, Backoff: 1 << 40})
		}},
		{"rubbish", "malformed", func(_ *hostile.Member, g *hostile.Gossip) error { return g.Frame([]byte{0xff, 0xff}) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := openNode(t, nil)
			m, g := gossipAttacker(t, a)
			for i := 0; m.Connected(a.self) && i <= maxOffences; i++ {
				if tt.say(m, g) == nil {
					g.Stream().SetReadDeadline(time.Now().Add(time.Second))
					g.Stream().Read(make([]byte, 1)) // the node resets the stream
				}
				if next, err := m.Gossip(t.Context(), a.self); err == nil {
					g = next
				}
			}
			if m.Connected(a.self) && !a.offences.blocked(m.Self(), time.Now()) || a.dropped()[tt.reason] < 5 {
				t.Errorf("connected %v, dropped %v: want the member to be cut off for %s", m.Connected(a.self), a.dropped(),
					tt.reason)
			}
		})
	}
}

// Peers in a PRUNE are not dialled: the addresses may be anybody's.
func TestPeerExchangeCausesNoDials(t *testing.T) {
	a := openNode(t, nil)
	victim := rig.ListenThirdParty(t)
	m, g := gossipAttacker(t, a)
	if err := g.Send(&hostile.RPC{Prune: []string{m.Topic()},
		Exchange: [][2]string{exchangedPeer(t, victim.Addr())}}); err != nil {
		t.Fatal(err)
	}
	rig.Await(t, "the offer is refused, or taken", func() bool {
		return a.dropped()["peer exchange"] == 1 || victim.Connections() > 0
	})
	if n := victim.Connections(); n > 0 {
		t.Errorf("a third party was dialled %d times", n)
	}
}

// exchangedPeer returns a record of a node that does not exist, with an address that it has signed.
func exchangedPeer(t *testing.T, at net.Addr) [2]string {
	t.Helper()
	_, key, _ := ed25519.GenerateKey(nil)
	priv, err := crypto.UnmarshalEd25519PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := manet.FromNetAddr(at)
	if err != nil {
		t.Fatal(err)
	}
	rec := peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{addr}})
	sealed, err := record.Seal(rec, priv)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sealed.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return [2]string{string(id), string(b)}
}

package rig

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
)

// Served counts the streams of a protocol that others have opened to a host and that are open.
func Served(h host.Host, id protocol.ID) (n int) {
	for _, c := range h.Network().Conns() {
		for _, st := range c.GetStreams() {
			if st.Stat().Direction == network.DirInbound && st.Protocol() == id {
				n++
			}
		}
	}
	return n
}

// Dial connects a host to a peer at addresses that name it, also where its own dials have just failed.
func Dial(t testing.TB, h host.Host, addrs []string) {
	t.Helper()
	for _, a := range addrs {
		info, err := peer.AddrInfoFromString(a)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := h.Network().(*swarm.Swarm); ok {
			s.Backoff().Clear(info.ID)
		}
		if err = h.Connect(t.Context(), *info); err == nil {
			return
		}
		t.Logf("dial %s: %v", a, err)
	}
	t.Fatalf("none of %q can be dialled", addrs)
}

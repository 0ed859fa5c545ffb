package transport

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/internal/rig"
)

// A session ends with the last connection, however late that is reported: it does not go on over a connection that
// it makes itself, though the peer can be dialled.
func TestSessionEndsWithItsLastConnection(t *testing.T) {
	a, b := openNode(t, nil), openNode(t, nil)
	for _, n := range []*testNode{a, b} {
		n.Host().Network().Notify(&network.NotifyBundle{DisconnectedF: func(network.Network, network.Conn) {
			time.Sleep(20 * time.Millisecond) // libp2p tells its listeners one by one in no order: half the time, a is late
		}})
	}
	for i := range 20 {
		a.connect(b)
		rig.Await(t, "both have been told", func() bool {
			return a.count(grid.EvPeerUp) == i+1 && b.count(grid.EvPeerUp) == i+1
		})
		a.Host().Network().ClosePeer(identity.Peer(b.self))
		rig.Await(t, "both hear of the end", func() bool {
			return a.count(grid.EvPeerDown) == i+1 && b.count(grid.EvPeerDown) == i+1
		})
	}
}

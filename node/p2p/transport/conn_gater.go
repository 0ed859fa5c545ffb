package transport

import (
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"skep/grid"
	"skep/node/p2p/identity"
)

// connGater decides who may be connected: nodes with an Ed25519 identity, on the allow-list if there is one, and
// not blocked at present.
type connGater struct {
	allow map[grid.NodeID]bool // nil: everybody who knows the secret
	bad   *offenders
}

func newConnGater(allow []grid.NodeID, bad *offenders) *connGater {
	g := &connGater{bad: bad}
	if len(allow) > 0 {
		g.allow = make(map[grid.NodeID]bool, len(allow))
		for _, n := range allow {
			g.allow[n] = true
		}
	}
	return g
}

func (g *connGater) admits(p peer.ID) bool {
	n, ok := identity.Node(p)
	return ok && (g.allow == nil || g.allow[n]) && !g.bad.blocked(n, time.Now())
}

// InterceptPeerDial refuses dials to peers that are not admitted.
func (g *connGater) InterceptPeerDial(p peer.ID) bool { return g.admits(p) }

// InterceptAddrDial allows all addresses.
func (g *connGater) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

// InterceptAccept allows all: the identity is not known yet.
func (g *connGater) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured refuses peers that are not admitted, once their identity is proved.
func (g *connGater) InterceptSecured(_ network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	return g.admits(p)
}

// InterceptUpgraded allows all.
func (g *connGater) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

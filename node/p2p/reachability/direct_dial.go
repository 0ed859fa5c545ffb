package reachability

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/transport"
)

// Delays of checking a peer that is connected through a relay. The first time it is dialled only if it needs no
// relay and no hole was punched meanwhile; later it is dialled in any case, with growing delays.
const (
	directDelay    = 2 * time.Second
	minDirectRetry = 30 * time.Second
	maxDirectRetry = 10 * time.Minute
)

// directDialer tries to replace the relayed connections to peers by direct ones.
type directDialer struct {
	n *Network

	mu     sync.Mutex
	trying map[grid.NodeID]bool // peers connected through a relay
}

// begin starts trying to replace a relayed connection to a peer by a direct one.
func (p *directDialer) begin(n grid.NodeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.trying[n] {
		p.trying[n] = true
		time.AfterFunc(directDelay, func() { p.tryDirect(n, 0) })
	}
}

// tryDirect checks a peer, and again after a delay until no relay is needed.
func (p *directDialer) tryDirect(n grid.NodeID, waited time.Duration) {
	if !p.n.work.Begin() {
		return
	}
	defer p.n.work.Done()
	announced := p.n.relays.announced(identity.Peer(n))
	needsNoRelay := len(announced) > 0 && !slices.ContainsFunc(announced, transport.Relayed)
	if p.onlyRelayed(n) && (waited > 0 || needsNoRelay) {
		ctx, cancel := context.WithTimeout(network.WithForceDirectDial(p.n.ctx, "skep"), transport.DialDeadline)
		_ = p.n.host.Connect(ctx, p.n.dialer.info(n)) // fails if there is no direct path
		cancel()
	}
	if p.closeRelayed(n) {
		p.mu.Lock()
		delete(p.trying, n)
		p.mu.Unlock()
		return
	}
	wait := min(max(2*waited, minDirectRetry), maxDirectRetry)
	time.AfterFunc(wait, func() { p.tryDirect(n, wait) })
}

// onlyRelayed reports whether there is no direct connection to a peer.
func (p *directDialer) onlyRelayed(n grid.NodeID) bool {
	return transport.DirectConn(p.n.host, identity.Peer(n)) == nil
}

// closeRelayed closes the relayed connections to a peer that is connected directly, except those that carry a
// transfer; it reports whether none is left.
func (p *directDialer) closeRelayed(n grid.NodeID) (none bool) {
	none, bent := true, p.onlyRelayed(n)
	for _, c := range p.n.host.Network().ConnsToPeer(identity.Peer(n)) {
		if !transport.Relayed(c.RemoteMultiaddr()) {
			continue
		}
		if bent || slices.ContainsFunc(c.GetStreams(), p.n.transport.CarriesTransfer) {
			none = false
			continue
		}
		c.Close()
	}
	return none
}

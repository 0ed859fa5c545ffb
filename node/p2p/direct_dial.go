package p2p

import (
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
)

// Delays of checking a peer that is connected through a relay. The first time it is dialled only if it needs no
// relay and no hole was punched meanwhile; later it is dialled in any case, with growing delays.
const (
	directDelay    = 2 * time.Second
	minDirectRetry = 30 * time.Second
	maxDirectRetry = 10 * time.Minute
)

// upgradeRelayed starts trying to replace a relayed connection to a peer by a direct one.
func (p *peers) upgradeRelayed(n grid.NodeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.upgrading == nil {
		p.upgrading = make(map[grid.NodeID]bool)
	}
	if !p.upgrading[n] {
		p.upgrading[n] = true
		time.AfterFunc(directDelay, func() { p.tryDirect(n, 0) })
	}
}

// tryDirect checks a peer, and again after a delay until no relay is needed.
func (p *peers) tryDirect(n grid.NodeID, waited time.Duration) {
	if !p.d.beginWork() {
		return
	}
	defer p.d.work.Done()
	if announced := p.d.relays.announced(peerOf(n)); p.onlyRelayed(n) && (waited > 0 || len(announced) > 0 && !slices.ContainsFunc(announced, relayed)) {
		ctx, cancel := context.WithTimeout(network.WithForceDirectDial(p.d.ctx, "skep"), dialDeadline)
		_ = p.d.host.Connect(ctx, p.d.dialer.info(n)) // fails if there is no direct path
		cancel()
	}
	if p.closeRelayed(n) {
		p.mu.Lock()
		delete(p.upgrading, n)
		p.mu.Unlock()
		return
	}
	wait := min(max(2*waited, minDirectRetry), maxDirectRetry)
	time.AfterFunc(wait, func() { p.tryDirect(n, wait) })
}

// onlyRelayed reports whether there is no direct connection to a peer.
func (p *peers) onlyRelayed(n grid.NodeID) bool { return directTo(p.d.host, peerOf(n)) == nil }

// closeRelayed closes the relayed connections to a peer that is connected directly, except those that carry a
// transfer; it reports whether none is left.
func (p *peers) closeRelayed(n grid.NodeID) (none bool) {
	none, bent := true, p.onlyRelayed(n)
	for _, c := range p.d.host.Network().ConnsToPeer(peerOf(n)) {
		if !relayed(c.RemoteMultiaddr()) {
			continue
		}
		if bent || slices.ContainsFunc(c.GetStreams(), carriesTransfer) {
			none = false
			continue
		}
		c.Close()
	}
	return none
}

// carriesTransfer reports whether a stream carries data that would have to be sent again.
func carriesTransfer(st network.Stream) bool {
	return slices.Contains([]protocol.ID{blobProtocol, outputProtocol, apiProtocol}, st.Protocol())
}

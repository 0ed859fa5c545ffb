package p2p

import (
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"skep/grid"
)

// When a peer that is connected through a relay is looked at: first whether a hole was punched meanwhile, or it needs no relay
// and is dialled directly; then it is dialled directly in any case, ever more seldom.
const (
	firstDirect = 2 * time.Second
	nextDirect  = 30 * time.Second
	lastDirect  = 10 * time.Minute
)

// straighten sees to it that a peer which is connected through a relay is talked to directly as soon as that goes.
func (p *peers) straighten(n grid.NodeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bent == nil {
		p.bent = make(map[grid.NodeID]bool)
	}
	if !p.bent[n] {
		p.bent[n] = true
		time.AfterFunc(firstDirect, func() { p.unbend(n, 0) })
	}
}

// unbend looks at a peer after a wait, and goes on looking until there is no relay between.
func (p *peers) unbend(n grid.NodeID, waited time.Duration) {
	if !p.d.begin() {
		return
	}
	defer p.d.work.Done()
	if said := p.d.relays.announced(peerOf(n)); p.bentOnly(n) && (waited > 0 || len(said) > 0 && !slices.ContainsFunc(said, relayed)) {
		ctx, cancel := context.WithTimeout(network.WithForceDirectDial(p.d.ctx, "skep"), dialDeadline)
		_ = p.d.host.Connect(ctx, p.d.dialer.info(n)) // it fails where no direct way leads
		cancel()
	}
	if p.drop(n) {
		p.mu.Lock()
		delete(p.bent, n)
		p.mu.Unlock()
		return
	}
	wait := min(max(2*waited, nextDirect), lastDirect)
	time.AfterFunc(wait, func() { p.unbend(n, wait) })
}

// bentOnly reports whether there is no direct connection to a peer.
func (p *peers) bentOnly(n grid.NodeID) bool { return directTo(p.d.host, peerOf(n)) == nil }

// drop closes the relayed connections to a peer that is connected directly, except those that something is being fetched
// over; it reports whether there are none any more.
func (p *peers) drop(n grid.NodeID) (none bool) {
	none, bent := true, p.bentOnly(n)
	for _, c := range p.d.host.Network().ConnsToPeer(peerOf(n)) {
		if !relayed(c.RemoteMultiaddr()) {
			continue
		}
		if bent || slices.ContainsFunc(c.GetStreams(), busy) {
			none = false
			continue
		}
		c.Close()
	}
	return none
}

// busy reports whether a stream carries what would have to begin anew.
func busy(st network.Stream) bool {
	return slices.Contains([]protocol.ID{blobProtocol, outputProtocol, doorProtocol}, st.Protocol())
}

package reachability

import (
	"context"
	"slices"
	"sync"
	"time"

	"skep/node/p2p/identity"
	"skep/node/p2p/transport"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Bounds of finding out whether others can dial the node, and of having relays if not.
const (
	wantedRelays   = 2 // at public addresses; others only while there are fewer than that in all
	reserveTimeout = 10 * time.Second
	relayRetry     = time.Minute // after a failed probe or reservation
	relayTag       = "relay"
)

// relays keeps the node dialable. It asks each peer that it has dialled whether that peer can dial back. If one
// cannot, a NAT or a firewall is between them, and that peer, which the node can dial, is asked to relay. Only the
// goroutine of run uses it.
type relays struct {
	n            *Network
	addrsUpdated event.Emitter
	probes       map[peer.ID]*reachProbe
	warned       bool // the warning that no member relays was logged

	mu          sync.Mutex
	listenAddrs map[peer.ID][]ma.Multiaddr // addresses that connected peers announce
}

func newRelays(n *Network) *relays {
	return &relays{n: n, probes: make(map[peer.ID]*reachProbe), listenAddrs: make(map[peer.ID][]ma.Multiaddr)}
}

// run checks all peers whenever one has come or gone, and when a retry or a renewal is due.
func (r *relays) run() {
	bus := r.n.host.EventBus()
	sub, err := bus.Subscribe([]any{new(event.EvtPeerIdentificationCompleted), new(event.EvtPeerConnectednessChanged)})
	if err == nil {
		r.addrsUpdated, err = bus.Emitter(new(event.EvtAutoRelayAddrsUpdated))
	}
	if err != nil {
		r.n.cfg.Log.Error("relays are not looked for", "error", err)
		return
	}
	defer r.addrsUpdated.Close()
	kick := make(chan struct{}, 1)
	r.n.work.Go(func() { // the event bus blocks until an event is taken
		defer sub.Close()
		for {
			select {
			case <-r.n.ctx.Done():
				return
			case ev := <-sub.Out():
				r.handleEvent(ev)
			}
			select {
			case kick <- struct{}{}:
			default:
			}
		}
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-r.n.ctx.Done():
			return
		case <-kick:
		case <-timer.C:
		}
		timer.Reset(r.check())
	}
}

// handleEvent records the addresses that a peer announces, while it is connected.
func (r *relays) handleEvent(ev any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch ev := ev.(type) {
	case event.EvtPeerIdentificationCompleted:
		if r.n.host.Network().Connectedness(ev.Peer) == network.Connected {
			r.listenAddrs[ev.Peer] = ev.ListenAddrs
		}
	case event.EvtPeerConnectednessChanged:
		if ev.Connectedness == network.NotConnected {
			delete(r.listenAddrs, ev.Peer)
		}
	}
}

// announced returns the addresses that a peer announces; nil if it is not connected or has not yet.
func (r *relays) announced(p peer.ID) []ma.Multiaddr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listenAddrs[p]
}

// check makes the probes and reservations that are due, and returns how long to sleep unless a peer comes or goes.
func (r *relays) check() time.Duration {
	h := r.n.host
	for p, a := range r.probes {
		if a.conn.IsClosed() || a.reserved && !r.canRelay(a.conn) {
			h.ConnManager().Unprotect(p, relayTag)
			delete(r.probes, p)
		}
	}
	r.publish()
	for _, p := range h.Network().Peers() {
		a := r.probes[p]
		if a == nil {
			c := transport.DirectConn(h, p)
			if c == nil || c.Stat().Direction != network.DirOutbound || !r.supports(p, reachProtocol) {
				continue
			}
			a = &reachProbe{conn: c}
			r.probes[p] = a
		}
		if time.Now().Before(a.next) || r.n.ctx.Err() != nil {
			continue
		}
		a.next = time.Time{}
		if a.reserved || a.dialledAt != nil || !a.answered && r.wantsRelay(a.conn) {
			r.probe(p, a)
		}
		if a.reserved || a.answered && a.dialledAt == nil && r.wantsRelay(a.conn) && r.canRelay(a.conn) {
			r.reserve(p, a)
		}
		r.publish()
	}
	sleep := time.Hour
	hidden, held := false, false
	for _, a := range r.probes {
		hidden, held = hidden || a.answered && a.dialledAt == nil, held || a.reserved
		if !a.next.IsZero() {
			sleep = min(sleep, max(time.Until(a.next), time.Second))
		}
	}
	if hidden && !held && !r.warned {
		r.n.cfg.Log.Warn("others cannot dial this node, and no member relays for it: it talks only to those that it dials")
	}
	r.warned = hidden && !held
	return sleep
}

// supports reports whether a peer is known to speak a protocol.
func (r *relays) supports(p peer.ID, id protocol.ID) bool {
	found, err := r.n.host.Peerstore().SupportsProtocols(p, id)
	return err == nil && len(found) > 0
}

// wantsRelay reports whether another relay, at the other end of c, is wanted.
func (r *relays) wantsRelay(c network.Conn) bool {
	public, all := 0, 0
	for _, a := range r.probes {
		if a.reserved {
			all++
			if manet.IsPublicAddr(a.conn.RemoteMultiaddr()) {
				public++
			}
		}
	}
	if manet.IsPublicAddr(c.RemoteMultiaddr()) {
		return public < wantedRelays
	}
	return all < wantedRelays
}

// canRelay reports whether others can dial the peer at the other end of c at the address that this node dialled: it
// announces that address, and uses no relay itself.
func (r *relays) canRelay(c network.Conn) bool {
	node, ok := identity.Node(c.RemotePeer())
	if !ok || r.n.cfg.MayRelay != nil && !r.n.cfg.MayRelay(node) {
		return false
	}
	said := r.announced(c.RemotePeer())
	return ma.Contains(said, c.RemoteMultiaddr()) && !slices.ContainsFunc(said, transport.Relayed) &&
		r.supports(c.RemotePeer(), proto.ProtoIDv2Hop)
}

// probe asks a peer whether it can dial this node. Relays are asked again at each renewal, since the obstacle may
// be gone, and so are peers that could, since a port may not be forwarded any more.
func (r *relays) probe(p peer.ID, a *reachProbe) {
	at, err := r.n.askReach(a.conn)
	if err != nil {
		a.next = time.Now().Add(relayRetry)
		return
	}
	a.dialledAt, a.answered = at, true
	if at == nil {
		return
	}
	a.next = time.Now().Add(transport.ReservationTTL / 2)
	if a.reserved {
		a.reserved = false
		r.n.host.ConnManager().Unprotect(p, relayTag)
	}
}

// reserve makes or renews a reservation at a relay.
func (r *relays) reserve(p peer.ID, a *reachProbe) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(r.n.ctx, "skep"), reserveTimeout)
	defer cancel()
	node, _ := identity.Node(p)
	if _, err := client.Reserve(ctx, r.n.host, peer.AddrInfo{ID: p}); err != nil {
		r.n.cfg.Log.Debug("relay", "node", node.Short(), "error", err)
		a.reserved, a.next = false, time.Now().Add(relayRetry)
		return
	}
	a.next = time.Now().Add(transport.ReservationTTL / 2) // by this clock: the relay's may be wrong
	if !a.reserved {
		a.reserved = true
		r.n.host.ConnManager().Protect(p, relayTag)
		r.n.cfg.Log.Info("others cannot dial this node: a member relays for it", "relay", node.Short())
	}
}

// publish makes the host update its addresses if they have changed.
func (r *relays) publish() {
	var seen, through []ma.Multiaddr
	own, _ := r.n.host.Network().InterfaceListenAddresses()
	for p, a := range r.probes {
		if a.dialledAt != nil && !ma.Contains(own, a.dialledAt) {
			seen = append(seen, a.dialledAt)
		}
		if a.reserved {
			through = append(through, circuitAddrs(p, a.conn.RemoteMultiaddr(), r.announced(p))...)
		}
	}
	slices.SortFunc(through, ma.Multiaddr.Compare)
	if r.n.own.set(mostConfirmed(seen), ma.Unique(through)) {
		r.addrsUpdated.Emit(event.EvtAutoRelayAddrsUpdated{})
	}
}

package p2p

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// How the node finds out whether others can dial it, and who relays for it if not.
const (
	wantedRelays   = 2 // at public addresses; at others only as long as there are fewer in all
	reserveTimeout = 10 * time.Second
	relayRetry     = time.Minute // after a question or a reservation failed
	relayTag       = "relay"
)

// relays keeps the node dialable. It asks each peer that it has dialled whether that can dial it, too; if one cannot, a
// NAT or a firewall is between them, and that peer, whom the node can dial, is asked to relay. It belongs to the
// goroutine of run.
type relays struct {
	d            *Driver
	addrsUpdated event.Emitter
	probes       map[peer.ID]*reachProbe
	warned       bool // that nobody relays has been said

	mu          sync.Mutex
	listenAddrs map[peer.ID][]ma.Multiaddr // where those that are connected say they may be dialled
}

// reachProbe is what a peer said of a connection.
type reachProbe struct {
	conn      network.Conn
	answered  bool
	dialledAt ma.Multiaddr // where it can dial this node; nil: nowhere
	reserved  bool         // it relays for this node
	next      time.Time    // when to ask it again, or to reserve, or to renew that; zero: now, or when relays are wanted
}

func newRelays(d *Driver) *relays {
	return &relays{d: d, probes: make(map[peer.ID]*reachProbe), listenAddrs: make(map[peer.ID][]ma.Multiaddr)}
}

// run looks at all peers whenever one has come or gone, and when something is to be tried again or renewed.
func (r *relays) run() {
	bus := r.d.host.EventBus()
	sub, err := bus.Subscribe([]any{new(event.EvtPeerIdentificationCompleted), new(event.EvtPeerConnectednessChanged)})
	if err == nil {
		r.addrsUpdated, err = bus.Emitter(new(event.EvtAutoRelayAddrsUpdated))
	}
	if err != nil {
		r.d.log.Error("relays are not looked for", "error", err)
		return
	}
	defer r.addrsUpdated.Close()
	kick := make(chan struct{}, 1)
	r.d.spawn(func() { // whoever tells of a peer waits for this
		defer sub.Close()
		for {
			select {
			case <-r.d.ctx.Done():
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
		case <-r.d.ctx.Done():
			return
		case <-kick:
		case <-timer.C:
		}
		timer.Reset(r.check())
	}
}

// handleEvent notes what a peer says of itself, as long as it is connected.
func (r *relays) handleEvent(ev any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch ev := ev.(type) {
	case event.EvtPeerIdentificationCompleted:
		if r.d.host.Network().Connectedness(ev.Peer) == network.Connected {
			r.listenAddrs[ev.Peer] = ev.ListenAddrs
		}
	case event.EvtPeerConnectednessChanged:
		if ev.Connectedness == network.NotConnected {
			delete(r.listenAddrs, ev.Peer)
		}
	}
}

// announced returns where a peer says it may be dialled; nil if it is not connected or has not said.
func (r *relays) announced(p peer.ID) []ma.Multiaddr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listenAddrs[p]
}

// check asks and reserves what is due, and returns how long there is nothing to do unless a peer comes or goes.
func (r *relays) check() time.Duration {
	h := r.d.host
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
			c := directTo(h, p)
			if c == nil || c.Stat().Direction != network.DirOutbound || !r.supports(p, reachProtocol) {
				continue
			}
			a = &reachProbe{conn: c}
			r.probes[p] = a
		}
		if time.Now().Before(a.next) || r.d.ctx.Err() != nil {
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
		r.d.log.Warn("others cannot dial this node, and no member relays for it: it talks only to those that it dials")
	}
	r.warned = hidden && !held
	return sleep
}

// supports reports whether a peer is known to speak a protocol.
func (r *relays) supports(p peer.ID, id protocol.ID) bool {
	found, err := r.d.host.Peerstore().SupportsProtocols(p, id)
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

// canRelay reports whether others can dial the peer at the other end of c where this node did: it says so, and needs no relay.
func (r *relays) canRelay(c network.Conn) bool {
	said := r.announced(c.RemotePeer())
	return ma.Contains(said, c.RemoteMultiaddr()) && !slices.ContainsFunc(said, relayed) && r.supports(c.RemotePeer(), proto.ProtoIDv2Hop)
}

// probe asks a peer, a relay again whenever that is to be renewed, since what was in the way may be gone, and so often whoever
// could dial the node, since a port may not be handed on any more.
func (r *relays) probe(p peer.ID, a *reachProbe) {
	at, err := r.d.askReach(a.conn)
	if err != nil {
		a.next = time.Now().Add(relayRetry)
		return
	}
	a.dialledAt, a.answered = at, true
	if at == nil {
		return
	}
	a.next = time.Now().Add(relaying.ReservationTTL / 2)
	if a.reserved {
		a.reserved = false
		r.d.host.ConnManager().Unprotect(p, relayTag)
	}
}

// reserve has a peer relay for this node, or go on with it.
func (r *relays) reserve(p peer.ID, a *reachProbe) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(r.d.ctx, "skep"), reserveTimeout)
	defer cancel()
	n, _ := nodeOf(p)
	if _, err := client.Reserve(ctx, r.d.host, peer.AddrInfo{ID: p}); err != nil {
		r.d.log.Debug("relay", "node", n.Short(), "error", err)
		a.reserved, a.next = false, time.Now().Add(relayRetry)
		return
	}
	a.next = time.Now().Add(relaying.ReservationTTL / 2) // by this clock: the relay's may be off
	if !a.reserved {
		a.reserved = true
		r.d.host.ConnManager().Protect(p, relayTag)
		r.d.log.Info("others cannot dial this node: a member relays for it", "relay", n.Short())
	}
}

// publish has the host look at its addresses anew if there are others now.
func (r *relays) publish() {
	var seen, through []ma.Multiaddr
	own, _ := r.d.host.Network().InterfaceListenAddresses()
	for p, a := range r.probes {
		if a.dialledAt != nil && !ma.Contains(own, a.dialledAt) {
			seen = append(seen, a.dialledAt)
		}
		if a.reserved {
			through = append(through, circuitAddrs(p, a.conn.RemoteMultiaddr(), r.announced(p))...)
		}
	}
	slices.SortFunc(through, ma.Multiaddr.Compare)
	if r.d.ownAddrs.set(mostConfirmed(seen), ma.Unique(through)) {
		r.addrsUpdated.Emit(event.EvtAutoRelayAddrsUpdated{})
	}
}

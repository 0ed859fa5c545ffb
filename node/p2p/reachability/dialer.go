package reachability

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"skep/grid"
	"skep/node/p2p/identity"
	"skep/node/p2p/transport"
)

// neighbourTag protects the connections of neighbours in the connection manager.
const neighbourTag = "neighbour"

// maxDials bounds the concurrent dials.
const maxDials = 8

// dialer keeps the node connected: to its neighbours, and, while it has fewer than minConnections connections, to
// everybody it knows, for ever and with growing back-off. It sleeps when there is nobody to dial.
type dialer struct {
	n      *Network
	wakeup chan struct{}

	mu        sync.Mutex
	contacts  map[grid.NodeID]*contact
	connected int // connected
	dialing   int
}

func newDialer(n *Network) *dialer {
	return &dialer{n: n, wakeup: make(chan struct{}, 1), contacts: make(map[grid.NodeID]*contact)}
}

func (l *dialer) wake() {
	select {
	case l.wakeup <- struct{}{}:
	default:
	}
}

// setNeighbour marks a node as a neighbour, or as none.
func (l *dialer) setNeighbour(k grid.Link) {
	if k.Peer == l.n.cfg.Self {
		return
	}
	l.mu.Lock()
	c := l.contact(k.Peer)
	if c != nil {
		c.neighbour = k.Keep
	}
	l.mu.Unlock()
	if k.Keep {
		l.n.host.ConnManager().Protect(identity.Peer(k.Peer), neighbourTag)
		l.wake()
	} else {
		l.n.host.ConnManager().Unprotect(identity.Peer(k.Peer), neighbourTag)
	}
}

// up records that the session with a peer is up, and saves the peer.
func (l *dialer) up(n grid.NodeID) {
	l.mu.Lock()
	c := l.contact(n)
	if c != nil {
		if !c.connected {
			l.connected++
		}
		c.connected, c.failures, c.lastSeen = true, 0, time.Now()
		if c.firstUp.IsZero() {
			c.firstUp = c.lastSeen
		}
	}
	l.mu.Unlock()
	if c != nil {
		l.n.work.Go(func() { l.save(n) })
	}
}

// down records that a session has ended.
func (l *dialer) down(n grid.NodeID, wasUp bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contacts[n]
	if c == nil {
		return
	}
	if c.connected {
		c.connected = false
		l.connected--
	}
	if wasUp {
		c.lastSeen = time.Now()
	} else {
		c.failures++
	}
	c.next = time.Now().Add(retryAfter(c.failures, jitter()))
	l.wake()
}

// reachable reports whether it is worth dialling a node that is not connected.
func (l *dialer) reachable(n grid.NodeID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contacts[n]
	if c == nil || len(c.addrs) == 0 || c.failures > 0 && time.Now().Before(c.next) {
		return false
	}
	l.n.host.Peerstore().AddAddrs(identity.Peer(n), c.info(n).Addrs, peerstore.TempAddrTTL)
	return true
}

// info returns the known addresses of a node.
func (l *dialer) info(n grid.NodeID) peer.AddrInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.contacts[n]; c != nil {
		return c.info(n)
	}
	return peer.AddrInfo{ID: identity.Peer(n)}
}

// announcedAddrs returns the addresses of a connected peer, as it stated them in identify.
func (l *dialer) announcedAddrs(n grid.NodeID) []string {
	if announced := l.n.relays.announced(identity.Peer(n)); len(announced) > 0 {
		return published(announced)
	}
	return published(l.n.host.Peerstore().Addrs(identity.Peer(n)))
}

func (l *dialer) wanted(c *contact) bool {
	return !c.connected && !c.dialing && len(c.addrs) > 0 && (c.neighbour || l.connected < minConnections &&
		(c.saved || c.fromToken))
}

// run dials the contacts that are due.
func (l *dialer) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-l.n.ctx.Done():
			return
		case <-l.wakeup:
		case <-timer.C:
		}
		timer.Reset(l.dialDue(time.Now()))
	}
}

// dialDue dials the contacts that are due and returns how long to sleep.
func (l *dialer) dialDue(at time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	sleep := time.Hour
	for n, c := range l.contacts {
		if !l.wanted(c) {
			continue
		}
		if wait := c.next.Sub(at); wait > 0 {
			sleep = min(sleep, wait)
			continue
		}
		if l.dialing >= maxDials {
			continue // the end of a dial wakes the dialer
		}
		if l.n.work.Go(func() { l.dial(n) }) {
			c.dialing = true
			l.dialing++
		}
	}
	return sleep
}

// dial tries a contact once. Whether the peer admits the node shows only when the session is up.
func (l *dialer) dial(n grid.NodeID) {
	l.mu.Lock()
	info := l.contacts[n].info(n)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(l.n.ctx, transport.DialDeadline)
	defer cancel()
	if s, ok := l.n.host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(info.ID) // the dialer has its own back-off
	}
	err := l.n.host.Connect(ctx, info)
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contacts[n]
	c.dialing = false
	l.dialing--
	if !c.connected {
		c.failures++ // reset when its session is up
		c.next = time.Now().Add(retryAfter(c.failures, jitter()))
	}
	if err != nil {
		l.n.cfg.Log.Debug("dial", "node", n.Short(), "failed", c.failures, "error", err)
	}
	l.wake()
}

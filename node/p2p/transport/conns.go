package transport

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/node/p2p/identity"
	"skep/node/p2p/transport/admission"
)

// Bounds of inbound connections: of one node, and of all. The dialer bounds outbound ones.
const (
	connsPerNode = 8
	connsAll     = 384
)

// FamiliarAfter is for how long after its first connection a node is a stranger.
const FamiliarAfter = time.Hour

// familiarTag protects the connections of familiar nodes in the connection manager.
const familiarTag = "familiar"

// conns does admission control of inbound connections.
type conns struct {
	t     *Transport
	seats *admission.Seats

	mu sync.Mutex
	m  map[network.Conn]*connState
}

// connState is the state of one connection.
type connState struct {
	seat          *admission.Seat // nil: outbound
	familiarTimer *time.Timer     // fires when the peer becomes familiar; nil: it is
}

func newConns(t *Transport) *conns {
	return &conns{t: t, seats: newSeats(connsPerNode, connsAll), m: make(map[network.Conn]*connState)}
}

// admit takes a seat for a connection; if there is none it closes the connection and returns false.
func (k *conns) admit(c network.Conn) bool {
	n, ok := identity.Node(c.RemotePeer())
	k.mu.Lock()
	_, twice := k.m[c]
	k.mu.Unlock()
	if !ok || twice {
		return ok
	}
	now := time.Now()
	known := k.t.contacts.Familiar(n, now)
	if !Relayed(c.RemoteMultiaddr()) {
		k.t.budget.AddMemberHost(c.RemoteMultiaddr())
	}
	l := &connState{}
	if c.Stat().Direction == network.DirInbound {
		from := admission.Net(c.RemoteMultiaddr())
		l.seat = k.seats.Take(admission.Claim{Node: n, Net: from, Familiar: known, OnEvict: func() { k.reject(c) }}, now)
		if l.seat == nil {
			k.reject(c)
			return false
		}
	}
	if known {
		k.t.host.ConnManager().Protect(c.RemotePeer(), familiarTag)
	} else {
		l.familiarTimer = time.AfterFunc(FamiliarAfter+time.Second, func() { k.setFamiliar(c) })
	}
	k.mu.Lock()
	other := k.m[c]
	k.m[c] = l
	k.mu.Unlock()
	other.release() // two callers saw the connection at the same time
	if c.IsClosed() {
		k.remove(c, false)
	}
	return true
}

// setFamiliar marks the peer at the other end as familiar: it has been known for FamiliarAfter.
func (k *conns) setFamiliar(c network.Conn) {
	k.mu.Lock()
	l := k.m[c]
	k.mu.Unlock()
	if l == nil || c.IsClosed() {
		return
	}
	k.t.host.ConnManager().Protect(c.RemotePeer(), familiarTag)
	if l.seat != nil {
		l.seat.SetFamiliar()
	}
}

func (l *connState) release() {
	if l == nil {
		return
	}
	if l.seat != nil {
		l.seat.Free()
	}
	if l.familiarTimer != nil {
		l.familiarTimer.Stop()
	}
}

func (k *conns) reject(c network.Conn) {
	k.t.cfg.Drop("crowded")
	k.t.work.Go(func() { c.Close() })
}

// remove frees the seat of a closed connection.
func (k *conns) remove(c network.Conn, last bool) {
	if last {
		k.t.host.ConnManager().Unprotect(c.RemotePeer(), familiarTag)
	}
	k.mu.Lock()
	l := k.m[c]
	delete(k.m, c)
	k.mu.Unlock()
	l.release()
}

// seatOf returns the seat of a connection; nil: it needs none.
func (k *conns) seatOf(c network.Conn) *admission.Seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.m[c]; l != nil {
		return l.seat
	}
	return nil
}

package p2p

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/node/p2p/seats"
)

// Bounds of inbound connections: of one node, and of all. The dialer bounds outbound ones.
const (
	connsPerNode = 8
	connsAll     = 384
)

// familiarTag protects the connections of familiar nodes in the connection manager.
const familiarTag = "familiar"

// conns does admission control of inbound connections.
type conns struct {
	d     *Driver
	seats *seats.Seats

	mu sync.Mutex
	m  map[network.Conn]*connState
}

// connState is the state of one connection.
type connState struct {
	seat          *seats.Seat // nil: outbound
	familiarTimer *time.Timer // fires when the peer becomes familiar; nil: it is
}

func newConns(d *Driver) *conns {
	return &conns{d: d, seats: newSeats(connsPerNode, connsAll), m: make(map[network.Conn]*connState)}
}

// admit takes a seat for a connection; if there is none it closes the connection and returns false.
func (k *conns) admit(c network.Conn) bool {
	n, ok := nodeOf(c.RemotePeer())
	k.mu.Lock()
	_, twice := k.m[c]
	k.mu.Unlock()
	if !ok || twice {
		return ok
	}
	now := time.Now()
	known := k.d.dialer.familiar(n, now)
	if !relayed(c.RemoteMultiaddr()) {
		k.d.dialBudget.AddMemberHost(c.RemoteMultiaddr())
	}
	l := &connState{}
	if c.Stat().Direction == network.DirInbound {
		l.seat = k.seats.Take(seats.Claim{Node: n, Net: seats.Net(c.RemoteMultiaddr()), Familiar: known, OnEvict: func() { k.reject(c) }}, now)
		if l.seat == nil {
			k.reject(c)
			return false
		}
	}
	if known {
		k.d.host.ConnManager().Protect(c.RemotePeer(), familiarTag)
	} else {
		l.familiarTimer = time.AfterFunc(familiarAfter+time.Second, func() { k.setFamiliar(c) })
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

// setFamiliar marks the peer at the other end as familiar: it has been known for familiarAfter.
func (k *conns) setFamiliar(c network.Conn) {
	k.mu.Lock()
	l := k.m[c]
	k.mu.Unlock()
	if l == nil || c.IsClosed() {
		return
	}
	k.d.host.ConnManager().Protect(c.RemotePeer(), familiarTag)
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
	k.d.counts.drop("crowded")
	k.d.spawn(func() { c.Close() })
}

// remove frees the seat of a closed connection.
func (k *conns) remove(c network.Conn, last bool) {
	if last {
		k.d.host.ConnManager().Unprotect(c.RemotePeer(), familiarTag)
	}
	k.mu.Lock()
	l := k.m[c]
	delete(k.m, c)
	k.mu.Unlock()
	l.release()
}

// seatOf returns the seat of a connection; nil: it needs none.
func (k *conns) seatOf(c network.Conn) *seats.Seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.m[c]; l != nil {
		return l.seat
	}
	return nil
}

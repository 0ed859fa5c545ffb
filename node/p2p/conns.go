package p2p

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/node/p2p/seats"
)

// Connections that others have made to this node: of one node, and in all. Those that this node makes are bounded by the dialer.
const (
	connsPerNode = 8
	connsAll     = 384
)

// familiarTag keeps the connections of nodes that are known for long when there are too many.
const familiarTag = "familiar"

// conns are the places of the connections that others have made.
type conns struct {
	d     *Driver
	seats *seats.Seats

	mu sync.Mutex
	m  map[network.Conn]*connState
}

// connState is what is kept for a connection.
type connState struct {
	seat          *seats.Seat // nil: this node has made the connection
	familiarTimer *time.Timer // ends when the peer is no stranger any more; nil: it is none
}

func newConns(d *Driver) *conns {
	return &conns{d: d, seats: newSeats(connsPerNode, connsAll), m: make(map[network.Conn]*connState)}
}

// admit gives a connection its place; one that gets none is closed, and came reports false.
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
		k.d.dialBudget.Home(c.RemoteMultiaddr())
	}
	l := &connState{}
	if c.Stat().Direction == network.DirInbound {
		l.seat = k.seats.Take(seats.Claim{Node: n, Net: seats.Net(c.RemoteMultiaddr()), Known: known, Leave: func() { k.reject(c) }}, now)
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
	other.release() // it was found, and told, at the same time
	if c.IsClosed() {
		k.remove(c, false)
	}
	return true
}

// setFamiliar notes that the peer at the other end has been connected for so long that it is no stranger.
func (k *conns) setFamiliar(c network.Conn) {
	k.mu.Lock()
	l := k.m[c]
	k.mu.Unlock()
	if l == nil || c.IsClosed() {
		return
	}
	k.d.host.ConnManager().Protect(c.RemotePeer(), familiarTag)
	if l.seat != nil {
		l.seat.Know()
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

// remove gives the place of a connection back.
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

// seatOf returns the place of a connection; nil: it needs none.
func (k *conns) seatOf(c network.Conn) *seats.Seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.m[c]; l != nil {
		return l.seat
	}
	return nil
}

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
	d      *Driver
	places *seats.Seats

	mu sync.Mutex
	m  map[network.Conn]*lodging
}

// lodging is what is kept for a connection.
type lodging struct {
	seat *seats.Seat // nil: this node has made the connection
	met  *time.Timer // ends when the peer is no stranger any more; nil: it is none
}

func newConns(d *Driver) *conns {
	return &conns{d: d, places: newSeats(connsPerNode, connsAll), m: make(map[network.Conn]*lodging)}
}

// came gives a connection its place; one that gets none is closed, and came reports false.
func (k *conns) came(c network.Conn) bool {
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
		k.d.dials.Home(c.RemoteMultiaddr())
	}
	l := &lodging{}
	if c.Stat().Direction == network.DirInbound {
		l.seat = k.places.Take(seats.Claim{Node: n, Net: seats.Net(c.RemoteMultiaddr()), Known: known, Leave: func() { k.refuse(c) }}, now)
		if l.seat == nil {
			k.refuse(c)
			return false
		}
	}
	if known {
		k.d.host.ConnManager().Protect(c.RemotePeer(), familiarTag)
	} else {
		l.met = time.AfterFunc(familiarAfter+time.Second, func() { k.known(c) })
	}
	k.mu.Lock()
	other := k.m[c]
	k.m[c] = l
	k.mu.Unlock()
	other.end() // it was found, and told, at the same time
	if c.IsClosed() {
		k.went(c, false)
	}
	return true
}

// known notes that the peer at the other end has been connected for so long that it is no stranger.
func (k *conns) known(c network.Conn) {
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

func (l *lodging) end() {
	if l == nil {
		return
	}
	if l.seat != nil {
		l.seat.Free()
	}
	if l.met != nil {
		l.met.Stop()
	}
}

func (k *conns) refuse(c network.Conn) {
	k.d.counts.drop("crowded")
	k.d.spawn(func() { c.Close() })
}

// went gives the place of a connection back.
func (k *conns) went(c network.Conn, last bool) {
	if last {
		k.d.host.ConnManager().Unprotect(c.RemotePeer(), familiarTag)
	}
	k.mu.Lock()
	l := k.m[c]
	delete(k.m, c)
	k.mu.Unlock()
	l.end()
}

// of returns the place of a connection; nil: it needs none.
func (k *conns) of(c network.Conn) *seats.Seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.m[c]; l != nil {
		return l.seat
	}
	return nil
}

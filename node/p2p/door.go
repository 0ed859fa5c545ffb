package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"skep/grid"
	"skep/node/p2p/seats"
)

const doorProtocol = "/skep/api/1"

// Bounds of the door: the streams that wait to be accepted, and those that are open, of one peer and of all.
// One peer cannot take all the places that whoever accepts may have.
const (
	maxWaiting  = 64
	doorPerPeer = 32
	doorAll     = 256
)

// door is a net.Listener for streams of other members.
type door struct {
	d      *Driver
	in     chan net.Conn
	closed chan struct{}
	once   sync.Once
	places *seats.Seats
}

func newDoor(d *Driver) *door {
	o := &door{d: d, in: make(chan net.Conn, maxWaiting), closed: make(chan struct{}),
		places: newSeats(doorPerPeer, doorAll)}
	context.AfterFunc(d.ctx, func() { o.Close() })
	return o
}

// serve hands a stream to whoever accepts.
func (o *door) serve(st network.Stream) {
	n, ok := nodeOf(st.Conn().RemotePeer())
	if !ok {
		st.Reset()
		return
	}
	seat := o.d.seat(o.places, st, n)
	if seat == nil {
		st.Reset()
		return
	}
	c := &visit{conn: conn{st, o.d.self, n}, seat: seat}
	select {
	case <-o.closed:
		c.Reset()
	case o.in <- c:
	default:
		o.d.counts.drop("busy")
		c.Reset()
	}
}

// Accept returns the next stream.
func (o *door) Accept() (net.Conn, error) {
	select {
	case c := <-o.in:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

// Close has Accept return net.ErrClosed.
func (o *door) Close() error {
	o.once.Do(func() {
		close(o.closed)
		for {
			select {
			case c := <-o.in:
				c.Close()
			default:
				return
			}
		}
	})
	return nil
}

// Addr returns the node's own identity.
func (o *door) Addr() net.Addr { return nodeAddr(o.d.self) }

func (o *door) dial(ctx context.Context, n grid.NodeID) (net.Conn, error) {
	if !o.d.peers.connected(n) && !o.d.dialer.reachable(n) {
		return nil, fmt.Errorf("node %s: is not connected, and no address of it is known", n.Short())
	}
	st, err := o.d.host.NewStream(network.WithAllowLimitedConn(ctx, "skep"), peerOf(n), doorProtocol)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Short(), undialled(err))
	}
	return conn{st, o.d.self, n}, nil
}

// undialled is why a peer could not be dialled, without all that was tried, which takes several lines.
func undialled(err error) error {
	var d *swarm.DialError
	if !errors.As(err, &d) || len(d.DialErrors) == 0 {
		return err
	}
	for _, e := range d.DialErrors {
		if !errors.Is(e.Cause, swarm.ErrDialBackoff) {
			return e.Cause
		}
	}
	return errors.New("could not be reached a moment ago, and is not tried again yet")
}

// conn is a stream as a net.Conn.
type conn struct {
	network.Stream
	local, remote grid.NodeID
}

// visit is a stream that a peer has opened at the door. It is closed on a peer that takes nothing for a while, and given to another that holds
// less where there is no room for all.
type visit struct {
	conn
	seat *seats.Seat
}

// Read reads what the other side says.
func (v *visit) Read(b []byte) (int, error) {
	n, err := v.Stream.Read(b)
	v.seat.Use(time.Now())
	return n, err
}

// Write writes as long as the other side takes something now and then.
func (v *visit) Write(b []byte) (int, error) { return patient{v.Stream, v.seat}.Write(b) }

// Close closes the stream and gives its place back.
func (v *visit) Close() error {
	v.seat.Free()
	return v.conn.Close()
}

// Reset breaks the stream off and gives its place back.
func (v *visit) Reset() error {
	v.seat.Free()
	return v.conn.Reset()
}

// LocalAddr returns the own identity.
func (c conn) LocalAddr() net.Addr { return nodeAddr(c.local) }

// RemoteAddr returns the identity of the other side, proved by the connection.
func (c conn) RemoteAddr() net.Addr { return nodeAddr(c.remote) }

// nodeAddr is a node's identity as a net.Addr.
type nodeAddr grid.NodeID

// Network returns "skep".
func (nodeAddr) Network() string { return "skep" }

// String returns the whole identity.
func (a nodeAddr) String() string { return grid.NodeID(a).String() }

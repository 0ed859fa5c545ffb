package transport

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
	"skep/node/p2p/identity"
	"skep/node/p2p/transport/admission"
)

const apiProtocol = "/skep/api/1"

// maxPendingAccepts bounds the API streams that wait to be accepted. Open ones are bounded as those of a service are.
const maxPendingAccepts = 64

// apiListener is a net.Listener for API streams of other members.
type apiListener struct {
	t      *Transport
	in     chan net.Conn
	closed chan struct{}
	once   sync.Once
	seats  *admission.Seats
}

func newAPIListener(t *Transport) *apiListener {
	o := &apiListener{t: t, in: make(chan net.Conn, maxPendingAccepts), closed: make(chan struct{}),
		seats: t.served[apiProtocol]}
	context.AfterFunc(t.ctx, func() { o.Close() })
	return o
}

// serve hands a stream to Accept.
func (o *apiListener) serve(st network.Stream) {
	n, ok := identity.Node(st.Conn().RemotePeer())
	if !ok {
		st.Reset()
		return
	}
	seat := o.t.takeSeat(o.seats, st, n)
	if seat == nil {
		st.Reset()
		return
	}
	c := &apiConn{streamConn: streamConn{st, o.t.cfg.Self, n}, seat: seat}
	select {
	case <-o.closed:
		c.Reset()
	case o.in <- c:
	default:
		o.t.cfg.Drop("busy")
		c.Reset()
	}
}

// Accept returns the next stream.
func (o *apiListener) Accept() (net.Conn, error) {
	select {
	case c := <-o.in:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept return net.ErrClosed.
func (o *apiListener) Close() error {
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
func (o *apiListener) Addr() net.Addr { return nodeAddr(o.t.cfg.Self) }

func (o *apiListener) dial(ctx context.Context, n grid.NodeID) (net.Conn, error) {
	if !o.t.peers.connected(n) && !o.t.contacts.Dialable(n) {
		return nil, fmt.Errorf("node %s: is not connected, and no address of it is known", n.Short())
	}
	st, err := o.t.host.NewStream(network.WithAllowLimitedConn(ctx, "skep"), identity.Peer(n), apiProtocol)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Short(), dialCause(err))
	}
	return streamConn{st, o.t.cfg.Self, n}, nil
}

// dialCause returns why a peer could not be dialled, without the list of all tries, which takes several lines.
func dialCause(err error) error {
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

// streamConn is a stream as a net.Conn.
type streamConn struct {
	network.Stream
	local, remote grid.NodeID
}

// apiConn is an API stream that a peer has opened. It is closed when the peer takes no data for a while, and when
// its seat is given to a peer that holds fewer.
type apiConn struct {
	streamConn
	seat *admission.Seat
}

// Read reads from the peer.
func (v *apiConn) Read(b []byte) (int, error) {
	n, err := v.Stream.Read(b)
	v.seat.Use(time.Now())
	return n, err
}

// Write writes as long as the peer keeps taking data.
func (v *apiConn) Write(b []byte) (int, error) { return servedWriter{v.Stream, v.seat}.Write(b) }

// Close closes the stream and frees its seat.
func (v *apiConn) Close() error {
	v.seat.Free()
	return v.streamConn.Close()
}

// Reset resets the stream and frees its seat.
func (v *apiConn) Reset() error {
	v.seat.Free()
	return v.streamConn.Reset()
}

// LocalAddr returns the own identity.
func (c streamConn) LocalAddr() net.Addr { return nodeAddr(c.local) }

// RemoteAddr returns the peer's identity, proved by the connection.
func (c streamConn) RemoteAddr() net.Addr { return nodeAddr(c.remote) }

// nodeAddr is a node's identity as a net.Addr.
type nodeAddr grid.NodeID

// Network returns "skep".
func (nodeAddr) Network() string { return "skep" }

// String returns the whole identity.
func (a nodeAddr) String() string { return grid.NodeID(a).String() }

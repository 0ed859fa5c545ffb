package p2p

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/libp2p/go-libp2p/core/network"

	"skep/grid"
)

const doorProtocol = "/skep/api/1"

// maxWaiting bounds the streams that wait at the door to be accepted.
const maxWaiting = 64

// door is a net.Listener for streams of other members.
type door struct {
	d      *Driver
	in     chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newDoor(d *Driver) *door {
	o := &door{d: d, in: make(chan net.Conn, maxWaiting), closed: make(chan struct{})}
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
	select {
	case <-o.closed:
		st.Reset()
	case o.in <- conn{st, o.d.self, n}:
	default:
		o.d.counts.drop("busy")
		st.Reset()
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
		return nil, fmt.Errorf("node %s: %w", n.Short(), err)
	}
	return conn{st, o.d.self, n}, nil
}

// conn is a stream as a net.Conn.
type conn struct {
	network.Stream
	local, remote grid.NodeID
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

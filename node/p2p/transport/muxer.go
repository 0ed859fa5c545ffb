package transport

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
)

// maxWindow is 40 MB/s at a round trip of 100 ms.
const maxWindow = 4 << 20

// muxer is libp2p's yamux with smaller windows, and notes when a connection last received something.
type muxer struct{ *yamux.Transport }

func newMuxer() muxer {
	t := *yamux.DefaultTransport
	t.MaxStreamWindowSize = maxWindow
	return muxer{&t}
}

// NewConn makes the multiplexed connection of a secured one.
func (m muxer) NewConn(c net.Conn, isServer bool, scope network.PeerScope) (network.MuxedConn, error) {
	last := new(lastReceived)
	last.note()
	mux, err := m.Transport.NewConn(&notingConn{c, last}, isServer, scope)
	if err != nil {
		return nil, err
	}
	return &notedConn{mux, last}, nil
}

// clockZero is the zero of lastReceived.
var clockZero = time.Now()

// lastReceived is when a connection last received something, by the monotonic clock, since clockZero.
type lastReceived struct{ at atomic.Int64 }

func (l *lastReceived) note() { l.at.Store(int64(time.Since(clockZero))) }

// ago returns how long ago that is.
func (l *lastReceived) ago() time.Duration { return time.Since(clockZero) - time.Duration(l.at.Load()) }

// notingConn notes when it receives something.
type notingConn struct {
	net.Conn
	last *lastReceived
}

// Read reads and notes.
func (c *notingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.last.note()
	}
	return n, err
}

// notedConn is a multiplexed connection that knows when it last received something.
type notedConn struct {
	network.MuxedConn
	last *lastReceived
}

// As also finds the lastReceived.
func (c *notedConn) As(target any) bool {
	if t, ok := target.(**lastReceived); ok {
		*t = c.last
		return true
	}
	return c.MuxedConn.As(target)
}

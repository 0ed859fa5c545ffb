package ports

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	libp2p "github.com/libp2p/go-libp2p/core/network"

	"skep/exec/network"
	"skep/grid"
	"skep/node/p2p/wire"
)

// accept carries the connections of ranks here to one elsewhere, until the listener is closed.
func (x *Member) accept(to network.Endpoint, l net.Listener) {
	n := x.layout.Nodes[to.Rank]
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the descriptors are used up
			select {
			case <-x.work.Context().Done():
				return
			case <-time.After(lookEvery):
			}
			continue
		}
		x.out.Add(1)
		if !x.proxies.shares.connect(x.layout.ID, n) {
			x.full.Add(1)
			abort(c)
			continue
		}
		carried := x.work.Go(func() {
			defer x.proxies.shares.disconnect(x.layout.ID, n)
			st, err := x.open(x.work.Context(), n, ask{x.layout.ID, x.rankOf(c), to})
			if err != nil {
				x.failed.Add(1)
				abort(c)
				return
			}
			x.carry(c, st)
		})
		if !carried {
			x.proxies.shares.disconnect(x.layout.ID, n)
			abort(c)
			return
		}
	}
}

// rankOf is the rank here that has begun a connection. One that has bound no address counts as the first.
func (x *Member) rankOf(c net.Conn) int {
	if at, ok := c.RemoteAddr().(*net.TCPAddr); ok && at.IP.To4() != nil {
		r, known := network.Rank([4]byte(at.IP.To4()), len(x.layout.Nodes))
		if known && slices.Contains(x.local, r) {
			return r
		}
	}
	return x.local[0]
}

// connect carries a connection that another node has asked for.
func (x *Member) connect(n grid.NodeID, a ask, st libp2p.Stream, w io.Writer, freeSeat func() bool) {
	x.in.Add(1)
	if !x.proxies.shares.connect(x.layout.ID, n) {
		x.full.Add(1)
		w.Write([]byte{wire.StatusBusy})
		return
	}
	defer x.proxies.shares.disconnect(x.layout.ID, n)
	if !freeSeat() {
		return
	}
	c, err := x.pod.Dial(a.from, a.to)
	if err != nil {
		x.failed.Add(1)
		w.Write([]byte{wire.StatusNone})
		return
	}
	if _, err := w.Write([]byte{wire.StatusOK}); err != nil {
		abort(c)
		st.Reset()
		return
	}
	st.SetDeadline(time.Time{})
	x.carry(c, st)
}

// halves is a connection of which each direction ends by itself.
type halves interface{ CloseWrite() error }

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// carry copies both directions until both have ended, one has failed, or the membership ends. That one has failed the
// other side is told by a reset.
func (x *Member) carry(c net.Conn, st libp2p.Stream) {
	ctx, cancel := context.WithCancel(x.work.Context())
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		abort(c)
		st.Reset()
	})
	var wait sync.WaitGroup
	one := func(to io.Writer, from io.Reader) {
		b := buffers.Get().(*[bufferSize]byte)
		defer buffers.Put(b)
		_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, b[:])
		if err == nil {
			if h, ok := to.(halves); ok {
				err = h.CloseWrite()
			}
		}
		if err != nil {
			cancel()
		}
	}
	wait.Go(func() { one(st, c) })
	one(c, st)
	wait.Wait()
	if stop() {
		c.Close()
		st.Close()
	}
}

// abort closes a connection so that the other end sees that it broke.
func abort(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

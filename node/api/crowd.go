package api

import (
	"container/list"
	"crypto/tls"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// Connections that are open at once at each socket of the owner's: an eighth of the descriptors that the process may have, within these bounds.
// The rest is for the node's own: files, peers, tasks.
const (
	minGuests = 16
	maxGuests = 512
)

// guests is that number here.
func guests() int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return minGuests
	}
	return int(min(max(uint64(lim.Cur)/8, minGuests), maxGuests))
}

// crowd bounds the connections that are open at once. One more closes the oldest of those that have not shown the token, so that who cannot show
// it keeps out nobody who can; where all have shown it, it waits until one ends.
type crowd struct {
	net.Listener
	most int

	mu     sync.Mutex
	ended  sync.Cond
	open   int
	fresh  list.List // of *guest, the oldest first: those that have not shown the token
	closed bool
}

func newCrowd(l net.Listener, most int) *crowd {
	c := &crowd{Listener: l, most: most}
	c.ended.L = &c.mu
	return c
}

// guest is a connection in a crowd.
type guest struct {
	net.Conn
	of    *crowd
	place *list.Element // in fresh; nil: has shown the token, or has gone
	gone  bool
}

// Accept returns the next connection that there is room for.
func (c *crowd) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &guest{Conn: conn, of: c}
	c.mu.Lock()
	for c.open >= c.most && !c.closed {
		oldest := c.fresh.Front()
		if oldest == nil {
			c.ended.Wait()
			continue
		}
		old := oldest.Value.(*guest)
		c.leave(old)
		old.Conn.Close() // a socket without pending deadlines: this does not block
	}
	if c.closed {
		c.mu.Unlock()
		conn.Close()
		return nil, net.ErrClosed
	}
	c.open++
	g.place = c.fresh.PushBack(g)
	c.mu.Unlock()
	return g, nil
}

// leave takes a guest out of the count.
func (c *crowd) leave(g *guest) {
	if g.gone {
		return
	}
	g.gone = true
	c.settle(g)
	c.open--
	c.ended.Signal()
}

// settle takes a guest out of those that give way.
func (c *crowd) settle(g *guest) {
	if g.place != nil {
		c.fresh.Remove(g.place)
		g.place = nil
	}
}

// Close also ends waiting for room.
func (c *crowd) Close() error {
	c.mu.Lock()
	c.closed = true
	c.ended.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Close closes the connection and makes room.
func (g *guest) Close() error {
	g.of.mu.Lock()
	g.of.leave(g)
	g.of.mu.Unlock()
	return g.Conn.Close()
}

// shown notes that the guest has shown the token.
func (g *guest) shown() {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.of.settle(g)
}

// guestOf returns the guest that a connection is, below TLS; nil: it is not in a crowd.
func guestOf(conn net.Conn) *guest {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	g, _ := conn.(*guest)
	return g
}

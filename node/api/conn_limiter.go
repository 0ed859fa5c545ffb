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
	minConns = 16
	maxConns = 512
)

// connLimit is that number here.
func connLimit() int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return minConns
	}
	return int(min(max(uint64(lim.Cur)/8, minConns), maxConns))
}

// connLimiter bounds the connections that are open at once. One more closes the oldest of those that have not shown the token, so that who cannot show
// it keeps out nobody who can; where all have shown it, it waits until one ends.
type connLimiter struct {
	net.Listener
	max int

	mu              sync.Mutex
	ended           sync.Cond
	open            int
	unauthenticated list.List // of *guest, the oldest first: those that have not shown the token
	closed          bool
}

func newConnLimiter(l net.Listener, most int) *connLimiter {
	c := &connLimiter{Listener: l, max: most}
	c.ended.L = &c.mu
	return c
}

// limitedConn is a connection in a crowd.
type limitedConn struct {
	net.Conn
	limiter *connLimiter
	element *list.Element // in fresh; nil: has shown the token, or has gone
	removed bool
}

// Accept returns the next connection that there is room for.
func (c *connLimiter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	g := &limitedConn{Conn: conn, limiter: c}
	c.mu.Lock()
	for c.open >= c.max && !c.closed {
		oldest := c.unauthenticated.Front()
		if oldest == nil {
			c.ended.Wait()
			continue
		}
		old := oldest.Value.(*limitedConn)
		c.remove(old)
		old.Conn.Close() // a socket without pending deadlines: this does not block
	}
	if c.closed {
		c.mu.Unlock()
		conn.Close()
		return nil, net.ErrClosed
	}
	c.open++
	g.element = c.unauthenticated.PushBack(g)
	c.mu.Unlock()
	return g, nil
}

// remove takes a guest out of the count.
func (c *connLimiter) remove(g *limitedConn) {
	if g.removed {
		return
	}
	g.removed = true
	c.unlist(g)
	c.open--
	c.ended.Signal()
}

// unlist takes a guest out of those that give way.
func (c *connLimiter) unlist(g *limitedConn) {
	if g.element != nil {
		c.unauthenticated.Remove(g.element)
		g.element = nil
	}
}

// Close also ends waiting for room.
func (c *connLimiter) Close() error {
	c.mu.Lock()
	c.closed = true
	c.ended.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Close closes the connection and makes room.
func (g *limitedConn) Close() error {
	g.limiter.mu.Lock()
	g.limiter.remove(g)
	g.limiter.mu.Unlock()
	return g.Conn.Close()
}

// authenticated notes that the guest has shown the token.
func (g *limitedConn) authenticated() {
	g.limiter.mu.Lock()
	defer g.limiter.mu.Unlock()
	g.limiter.unlist(g)
}

// limitedConnOf returns the guest that a connection is, below TLS; nil: it is not in a crowd.
func limitedConnOf(conn net.Conn) *limitedConn {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	g, _ := conn.(*limitedConn)
	return g
}

package api

import (
	"container/list"
	"crypto/tls"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// Bounds of concurrent connections at each local listener: an eighth of the process's file descriptors, within
// these bounds. The rest is for the node: files, peers, tasks.
const (
	minConns = 16
	maxConns = 512
)

// connLimit returns the bound on this machine.
func connLimit() int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return minConns
	}
	return int(min(max(uint64(lim.Cur)/8, minConns), maxConns))
}

// connLimiter bounds the concurrent connections of a listener. A further one closes the oldest of those that have
// not shown the token, so that clients without it keep nobody out; if all have shown it, the further one waits
// until one ends.
type connLimiter struct {
	net.Listener
	max int

	mu              sync.Mutex
	ended           sync.Cond
	open            int
	unauthenticated list.List // of *limitedConn, the oldest first: those that have not shown the token
	closed          bool
}

func newConnLimiter(l net.Listener, most int) *connLimiter {
	c := &connLimiter{Listener: l, max: most}
	c.ended.L = &c.mu
	return c
}

// limitedConn is a connection counted by a connLimiter.
type limitedConn struct {
	net.Conn
	limiter *connLimiter
	element *list.Element // in limiter.unauthenticated; nil: has shown the token, or is closed
	removed bool
}

// CloseWrite ends what the connection sends.
func (g *limitedConn) CloseWrite() error { return closeWrite(g.Conn) }

// Accept returns the next connection, when it is within the bound.
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

// remove takes a connection out of the count.
func (c *connLimiter) remove(g *limitedConn) {
	if g.removed {
		return
	}
	g.removed = true
	c.unlist(g)
	c.open--
	c.ended.Signal()
}

// unlist takes a connection out of those that may be closed.
func (c *connLimiter) unlist(g *limitedConn) {
	if g.element != nil {
		c.unauthenticated.Remove(g.element)
		g.element = nil
	}
}

// Close also ends waiting.
func (c *connLimiter) Close() error {
	c.mu.Lock()
	c.closed = true
	c.ended.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Close closes the connection and takes it out of the count.
func (g *limitedConn) Close() error {
	g.limiter.mu.Lock()
	g.limiter.remove(g)
	g.limiter.mu.Unlock()
	return g.Conn.Close()
}

// authenticated records that the connection has shown the token.
func (g *limitedConn) authenticated() {
	g.limiter.mu.Lock()
	defer g.limiter.mu.Unlock()
	g.limiter.unlist(g)
}

// limitedConnOf returns the limitedConn below a connection, also below TLS; nil: it is not limited.
func limitedConnOf(conn net.Conn) *limitedConn {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	g, _ := conn.(*limitedConn)
	return g
}

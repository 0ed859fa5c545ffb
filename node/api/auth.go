package api

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// requireToken admits requests with the token. On the unix socket too: a task may reach a socket by its path, but
// not read the token beside it. On TCP it also refuses requests that a page of another origin makes a browser send,
// and Host names that are not this machine's, which a page could have pointed here.
func requireToken(d listener, token string, next http.Handler) http.Handler {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if d.tcp && !goodHost(r.Host, d.any) {
			problem(w, http.StatusMisdirectedRequest, "host "+quote(r.Host)+": want localhost or an IP address of this node")
			return
		}
		if r.URL.Path != "/healthz" && !bearer(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Connection", "close")
			problem(w, http.StatusUnauthorized,
				"want the token of the node's data folder in the header: Authorization: Bearer TOKEN")
			return
		}
		if c, ok := r.Context().Value(callerKey{}).(caller); ok && c.conn != nil && bearer(r, token) {
			c.conn.authenticated()
		}
		next.ServeHTTP(w, r)
	})
	if !d.tcp {
		return h
	}
	csrf := http.NewCrossOriginProtection()
	csrf.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		problem(w, http.StatusForbidden, "a page of another origin may not ask this node")
	}))
	return csrf.Handler(h)
}

func bearer(r *http.Request, token string) bool {
	kind, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(kind, "Bearer") && subtle.ConstantTimeCompare([]byte(got), []byte(token)) == 1
}

func goodHost(host string, any bool) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && (any || ip.IsLoopback())
}

// boundedListener bounds the concurrent connections: a further one waits until another closes.
type boundedListener struct {
	net.Listener
	free   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func boundListener(l net.Listener, n int) *boundedListener {
	return &boundedListener{Listener: l, free: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept first waits until it is within the bound.
func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &boundedConn{Conn: c, done: func() { <-l.free }}, nil
}

// Close also ends waiting.
func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// boundedConn frees its place once, when it is closed.
type boundedConn struct {
	net.Conn
	once sync.Once
	done func()
}

// Close closes the connection and frees its place.
func (c *boundedConn) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}

package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
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

// CloseWrite ends what the connection sends.
func (c *boundedConn) CloseWrite() error { return closeWrite(c.Conn) }

// Close closes the connection and frees its place.
func (c *boundedConn) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}

// nonceLife is for how long a proof may be made with a nonce: a node that relays a request could repeat that same
// request for as long.
const nonceLife = 2 * time.Minute

// nonces issues and checks the nonces of proofs for this node. It stores none: a nonce is a time and a MAC by this
// node's key over the time and the job.
type nonces struct {
	key [32]byte
	now func() time.Time // replaced in tests
}

func newNonces() *nonces {
	n := &nonces{now: time.Now}
	rand.Read(n.key[:])
	return n
}

// nonceSize is the size of a nonce's time and MAC in bytes.
const nonceSize = 8 + 16

// issue returns a nonce for requests about a job.
func (n *nonces) issue(id grid.JobID) string { return n.at(id, n.now()) }

func (n *nonces) at(id grid.JobID, t time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli()))
	mac := hmac.New(sha256.New, n.key[:])
	mac.Write(b)
	mac.Write(id.Origin[:])
	mac.Write(id.Nonce[:])
	return hex.EncodeToString(mac.Sum(b)[:nonceSize])
}

// valid reports whether this node issued a nonce for that job within nonceLife.
func (n *nonces) valid(id grid.JobID, nonce string) bool {
	b, err := hex.DecodeString(nonce)
	if err != nil || len(b) != nonceSize {
		return false
	}
	t := time.UnixMilli(int64(binary.BigEndian.Uint64(b)))
	age := n.now().Sub(t)
	return age > -time.Second && age <= nonceLife && hmac.Equal([]byte(nonce), []byte(n.at(id, t)))
}

// requestProof is the proof in a request, and the request that it must be made for. It is checked once, so that a
// stream which began in time goes on.
type requestProof struct {
	proof *v1.Proof
	req   v1.Request
	once  sync.Once
	good  bool
}

// proofOf returns the proof in a request, unchecked; nil if there is none.
func proofOf(r *http.Request) *requestProof {
	p, err := v1.ParseProof(r.Header.Get(v1.ProofHeader))
	if err != nil {
		return nil
	}
	return &requestProof{proof: p, req: v1.Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Nonce: p.Nonce}}
}

func (h *requestProof) opensJob(n *nonces, id grid.JobID, hash grid.CapabilityHash) bool {
	if !h.proof.IsOf(hash) {
		return false
	}
	h.once.Do(func() {
		h.req.Job = id
		h.good = n.valid(id, h.proof.Nonce) && h.proof.Signs(&h.req)
	})
	return h.good && h.req.Job == id
}

package api

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"sync"

	"skep/grid"
	"skep/node/api/v1"
)

// caller identifies who makes a request: a user of this node's machine, or another member.
type caller struct {
	node  grid.NodeID   // this node, or the member, which its connection has proved
	user  string        // of this node's machine, as the operating system says; of a member, as that member states
	named bool          // the operating system named the user, here
	proof *requestProof // nil: none
	conn  *limitedConn  // the connection at a local listener; nil elsewhere
}

type callerKey struct{}

// callerOf returns who makes the request of ctx.
func (s *Server) callerOf(ctx context.Context) caller {
	if c, ok := ctx.Value(callerKey{}).(caller); ok {
		return c
	}
	return caller{node: s.self, user: ownUser()}
}

// local reports whether the request came through a local listener.
func (s *Server) local(c *caller) bool { return c.node == s.self }

// mayOpen reports whether a caller may see the whole of a job, and cancel it.
func (s *Server) mayOpen(c *caller, id grid.JobID, h grid.CapabilityHash) bool {
	return h.IsZero() || c.proof != nil && c.proof.opensJob(s.nonces, id, h)
}

// isSubmitter reports whether a caller is the user who submitted a job here.
func (s *Server) isSubmitter(c *caller, spec *grid.JobSpec) bool {
	return s.local(c) && c.named && spec.Submitter == grid.Submitter{Node: s.self, User: c.user}
}

// localContext adds the user at the other end of a local connection.
func (s *Server) localContext(ctx context.Context, conn net.Conn) context.Context {
	g := limitedConnOf(conn)
	if g != nil {
		conn = g.Conn
	}
	user, named := userOf(conn)
	return context.WithValue(ctx, callerKey{}, caller{node: s.self, user: user, named: named, conn: g})
}

// memberContext adds the member at the other end of a connection.
func (s *Server) memberContext(ctx context.Context, conn net.Conn) context.Context {
	id, err := grid.ParseNodeID(conn.RemoteAddr().String())
	if err != nil || id == s.self {
		id = grid.NodeID{} // unknown
	}
	return context.WithValue(ctx, callerKey{}, caller{node: id})
}

// identify adds to the caller what the request states: its proof of a capability and, of another member, the user
// that it asks for.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := s.callerOf(r.Context())
		c.proof = proofOf(r)
		if !s.local(&c) {
			c.user = statedUser(r.Header.Get(v1.UserHeader))
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// asMember makes a request without a known connection that of an unknown member.
func (s *Server) asMember(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, known := r.Context().Value(callerKey{}).(caller); !known {
			r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller{}))
		}
		next.ServeHTTP(w, r)
	})
}

// statedUser returns the user that another member states; "" if it is no valid name.
func statedUser(header string) string {
	name, err := url.PathUnescape(header)
	if err != nil || len(name) > grid.MaxUser || !grid.Printable(name) {
		return ""
	}
	return name
}

// ownUser is the user that this node runs as, for callers whose user the system does not name: those over TCP. It
// is looked up on first use: a program that is no node does not need it.
var ownUser = sync.OnceValue(func() string { return userName(uint32(os.Getuid())) })

// userOf returns the user of the process at the other end of a connection, and whether the system named it.
func userOf(conn net.Conn) (name string, named bool) {
	uid, ok := peerUID(conn)
	if !ok || uid == uint32(os.Getuid()) {
		return ownUser(), ok
	}
	return userName(uid), true
}

// userName returns a user's login name; its number if it has no printable one.
func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	u, err := user.LookupId(id)
	if err != nil || u.Username == "" || len(u.Username) > grid.MaxUser || !grid.Printable(u.Username) {
		return "uid " + id
	}
	return u.Username
}

package api

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"

	"skep/grid"
	"skep/internal/indices"
	"skep/node"
	"skep/node/api/secrets"
	"skep/node/api/v1"
	"skep/node/listing"
	"skep/node/p2p/blob"
	"skep/node/p2p/joblist"
)

// Bounds of the API listener.
const (
	maxHeader    = 32 << 10         // bytes of a request's header
	maxBody      = 8 << 20          // bytes of a request that is not a blob
	headerTime   = 10 * time.Second // for a request's header to arrive
	idleTime     = 2 * time.Minute  // of a connection without a request
	aliveTime    = 15 * time.Second // between keepalives in a quiet stream
	maxWait      = time.Minute      // of one long poll
	maxMembers   = 256              // connections of other members at once
	shutdownTime = 2 * time.Second
)

// Options describe the program around the API.
type Options struct {
	Version  v1.Version
	Settings []v1.Setting
	Findings []string      // what the node's isolation is missing for a higher level
	Log      *slog.Logger  // nil = none
	Access   grid.Access   // of jobs whose submitters do not state one; "" = members
	Admins   []grid.NodeID // other members that may drain this node; none = all

	// Members are those of a network with certificates. nil = there are none.
	Members Members

	// Audit keeps what others do with the jobs of this node and to it. nil = nothing does.
	Audit Audit

	// Secrets keeps those that this node has set or holds. nil = it keeps none.
	Secrets secrets.Keeper

	// Copies returns the nodes whose identity a second process was found to have. nil = none.
	Copies func() map[grid.NodeID]v1.Copy

	// Versions returns the nodes that speak another version of the control protocol. nil = none.
	Versions func() map[grid.NodeID]v1.VersionGap
}

// Server is the API of one node.
type Server struct {
	b       Backend
	o       Options
	self    grid.NodeID
	mux     *http.ServeMux
	api     huma.API
	members http.RoundTripper
	log     *accessLog
	nonces  *nonces
	stop    chan struct{} // closed when the server stops, so that streams end
}

// New makes the API of a node.
func New(b Backend, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Members == nil {
		o.Members = noMembers{}
	}
	s := &Server{b: b, o: o, self: b.Self(), mux: http.NewServeMux(), stop: make(chan struct{})}
	s.o.Version.Node = s.self.String()
	s.members, s.log, s.nonces = s.transport(), newAccessLog(o.Log, o.Audit, s.nameOf), newNonces()
	cfg := huma.DefaultConfig("Skep", "1")
	cfg.Info.Description = "The local API of a Skep node."
	cfg.DocsPath, cfg.SchemasPath, cfg.CreateHooks = "", "", nil
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	cfg.Security = []map[string][]string{{"token": {}}}
	s.api = humago.New(s.mux, cfg)
	s.routes()
	return s
}

// LocalHandler returns the handler of the whole API, for the node's user: about this node and through it about
// others.
func (s *Server) LocalHandler() http.Handler { return s.problems(s.identify(s.relay(s.mux))) }

// MemberHandler returns the handler of the reduced API: what other members may request about jobs of this node.
func (s *Server) MemberHandler() http.Handler {
	return s.asMember(s.identify(s.problems(membersOnly(s.own(s.mux)))))
}

// Serve serves the listeners and the other members until ctx ends. It closes the listeners.
func (s *Server) Serve(ctx context.Context, l *Listeners) error {
	members := s.server(http.MaxBytesHandler(s.MemberHandler(), maxBody))
	members.ConnContext = s.memberContext
	servers := []*http.Server{members}
	ends := make(chan error, 1+len(l.listeners))
	go func() { ends <- members.Serve(boundListener(s.b.Listener(), maxMembers)) }()
	for _, d := range l.listeners {
		srv := s.server(requireToken(d, l.token, s.LocalHandler()))
		srv.ConnContext = s.localContext
		servers = append(servers, srv)
		go func() { ends <- serve(srv, d) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-ends:
	}
	close(s.stop)
	defer s.log.reportSuppressed()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	for _, srv := range servers {
		if srv.Shutdown(end) != nil {
			srv.Close()
		}
	}
	l.Close()
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// serve serves one listener, with TLS where other machines can connect. The number of connections is bounded.
func serve(srv *http.Server, d listener) error {
	l := newConnLimiter(d.Listener, connLimit())
	if !d.any {
		return srv.Serve(l)
	}
	srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*d.tls}}
	return srv.ServeTLS(l, "", "")
}

func (s *Server) server(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug)}
}

// Backend is the part of the node's driver that the API uses. All methods are safe for concurrent use.
type Backend interface {
	Self() grid.NodeID
	Addrs() []string        // multiaddresses at which it may be dialled
	Token() (string, error) // the token with which another machine joins
	Wall() grid.Wall
	Registry() *prometheus.Registry
	Blobs() *blob.Store
	Dropped() map[string]uint64 // messages dropped since start, by reason

	// Submit returns when the job is on disk, or why it was refused. Submitting the same ID again has no effect.
	Submit(ctx context.Context, id grid.JobID, spec *grid.JobSpec) error
	// Cancel returns when the cancellation is on disk and no attempt of the job can start any more: at most 1.16
	// leases later. It cancels the whole job, or only the named tasks of it.
	Cancel(ctx context.Context, id grid.JobID, tasks indices.Set) error

	// Retry has tasks that have ended run again, and returns when that is on disk.
	Retry(ctx context.Context, id grid.JobID, tasks indices.Set) error

	// Drain makes the node take no new tasks and gives running ones a time to end; Undrain reverts that. Both
	// return when it has taken effect.
	Drain(ctx context.Context, within time.Duration) error
	Undrain(ctx context.Context) error

	// Read calls f between two steps. f must not keep what it sees.
	Read(ctx context.Context, f func(n *node.Node, now grid.Time)) error
	// Jobs returns the jobs of the grid that a query selects, newest first, after at most 2 seconds.
	Jobs(ctx context.Context, q *listing.Query) (*joblist.Result, error)
	// Watch returns a channel that is signalled after changes of an own job, several as one, and a function that
	// ends it.
	Watch(id grid.JobID) (<-chan struct{}, func())
	// Output writes the output of a task of an own job on a stream, from an offset on, wherever it runs; with
	// follow it returns when the task has ended. If the node that has it cannot be asked the error is a
	// grid.NodeError.
	Output(ctx context.Context, w io.Writer, t grid.TaskID, stderr bool, offset int64, follow bool) error

	// Stdin sends a task of a job submitted here its standard input, when it runs. all: the whole of it was written to the
	// task; otherwise the task reads no more, or has ended. After an error the task is stopped. It may return while it
	// still reads from in.
	Stdin(ctx context.Context, t grid.TaskID, in io.Reader) (all bool, err error)

	// Exec opens a session of package exec/session with the node that runs a task of a job of this node, to run a command
	// beside the task, which ends when the connection does. If that node cannot be asked the error is a grid.NodeError.
	Exec(ctx context.Context, t grid.TaskID) (io.ReadWriteCloser, error)

	// FetchBlob returns when a blob is here that some nodes should have.
	FetchBlob(ctx context.Context, f *grid.File, holders []grid.NodeID) error

	// Dial connects to the member API of another member, and Listener accepts such connections.
	Dial(ctx context.Context, id grid.NodeID) (net.Conn, error)
	Listener() net.Listener
}

package api

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"skep/grid"
	"skep/node/api/v1"
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
	s := &Server{b: b, o: o, self: b.Self(), mux: http.NewServeMux(), stop: make(chan struct{})}
	s.o.Version.Node = s.self.String()
	s.members, s.log, s.nonces = s.transport(), newAccessLog(o.Log), newNonces()
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

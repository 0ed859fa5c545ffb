package api

import (
	"context"
	"net/http"
	"strings"

	"skep/grid"
	"skep/node"
	"skep/node/api/v1"
)

// drainPath returns the node that a request about draining is for.
func drainPath(path string) (ref string, ok bool) {
	if path, ok = strings.CutPrefix(path, "/v1/nodes/"); !ok {
		return "", false
	}
	ref, ok = strings.CutSuffix(path, "/drain")
	return ref, ok && !strings.Contains(ref, "/")
}

// relayDrain passes a request about draining on to the node that it is for.
func (s *Server) relayDrain(proxy, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ref, ok := drainPath(r.URL.Path)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		n, err := s.getNode(r.Context(), &nodeIn{Node: ref})
		if err != nil {
			failAll(w, err)
			return
		}
		r = r.Clone(r.Context())
		r.URL.Path, r.URL.RawPath = "/v1/nodes/self/drain", ""
		if n.ID == s.self.String() {
			next.ServeHTTP(w, r)
			return
		}
		r.URL.Host = n.ID
		proxy.ServeHTTP(w, r)
	})
}

type drainIn struct {
	nodeIn
	Deadline float64 `query:"deadline" minimum:"0" maximum:"2592000" default:"600" doc:"Seconds that running tasks are given."`
}

func (s *Server) drain(ctx context.Context, in *drainIn) (*v1.Drain, error) {
	if err := s.b.Drain(ctx, grid.Seconds(in.Deadline)); err != nil {
		return nil, refused(ctx, err)
	}
	s.o.Log.Info("draining", "deadline", grid.Seconds(in.Deadline))
	return s.getDrain(ctx, &in.nodeIn)
}

func (s *Server) undrain(ctx context.Context, in *nodeIn) (*v1.Drain, error) {
	if err := s.b.Undrain(ctx); err != nil {
		return nil, refused(ctx, err)
	}
	s.o.Log.Info("taking work again")
	return s.getDrain(ctx, in)
}

func (s *Server) getDrain(ctx context.Context, _ *nodeIn) (*v1.Drain, error) {
	d := &v1.Drain{Node: s.self.String()}
	err := s.b.Read(ctx, func(n *node.Node, now gridTime) {
		v := n.Drain(now)
		d.Draining, d.Over, d.Left = v.On, v.Over(), v.Left.Seconds()
		d.Queued, d.Running, d.Unsaved, d.Own = v.Queued, v.Running, v.Unsaved, v.Own
		d.Name = namesOf(n, now)[s.self]
	})
	return d, err
}

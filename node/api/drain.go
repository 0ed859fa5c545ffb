package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node"
	v1 "skep/node/api/v1"
)

// drainPath returns the node that a drain request is for.
func drainPath(path string) (ref string, ok bool) {
	if path, ok = strings.CutPrefix(path, "/v1/nodes/"); !ok {
		return "", false
	}
	ref, ok = strings.CutSuffix(path, "/drain")
	return ref, ok && !strings.Contains(ref, "/")
}

// relayDrain relays a drain request to the node that it is for.
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
	if err := s.admin(ctx, "drain", true); err != nil {
		return nil, err
	}
	if err := s.b.Drain(ctx, grid.Seconds(in.Deadline)); err != nil {
		return nil, backendError(ctx, err)
	}
	s.o.Log.Info("draining", "deadline", grid.Seconds(in.Deadline))
	return s.getDrain(ctx, &in.nodeIn)
}

func (s *Server) undrain(ctx context.Context, in *nodeIn) (*v1.Drain, error) {
	if err := s.admin(ctx, "undrain", false); err != nil {
		return nil, err
	}
	if err := s.b.Undrain(ctx); err != nil {
		return nil, backendError(ctx, err)
	}
	s.o.Log.Info("taking work again")
	return s.getDrain(ctx, in)
}

// admin refuses drain and undrain requests of a member that is not one of this node's admins. It logs who made
// them.
func (s *Server) admin(ctx context.Context, act string, on bool) error {
	c, idle := s.callerOf(ctx), false
	if err := s.b.Read(ctx, func(n *node.Node, now gridTime) { idle = n.Drain(now).On == on }); err != nil {
		return asProblem(err)
	}
	named := len(s.o.Admins) > 0
	barred := !s.local(&c) && !slices.Contains(s.o.Admins, c.node) && (named || !s.o.Members.IsAdmin(c.node))
	s.log.record(entry{act: act, of: "node", id: s.self.String(), by: c.node, user: c.user, refused: barred,
		noChange: idle})
	if !barred {
		return nil
	}
	return huma.Error403Forbidden("node " + s.displayName(ctx, s.self) +
		" is drained, and takes work again, for its admins only, and node " + c.node.Short() +
		" is none of them: want it on that machine with --self, the ID of the node that asks in its setting admins, or the " +
		"role admin in that node's certificate")
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

// Members lets nodes into a network with certificates, and puts them out.
type Members interface {
	// Invite returns an invite when it is on disk: uses nodes may join with it while it lasts.
	Invite(name string, roles []string, uses int, lasts time.Duration) (string, error)
	// Revoke puts a member out, by name or whole ID, and returns when that is on disk and counts at this node.
	Revoke(ref string) (id grid.NodeID, name string, err error)
	// IsAdmin reports whether a node may drain this one.
	IsAdmin(n grid.NodeID) bool
	// Certificate returns what a node has shown; nil if it has shown none.
	Certificate(n grid.NodeID) *v1.Certificate
}

// noMembers is what there is where nothing is known of certificates.
type noMembers struct{}

func (noMembers) Invite(string, []string, int, time.Duration) (string, error) {
	return "", huma.Error404NotFound("this network has no certificates")
}

func (noMembers) Revoke(string) (grid.NodeID, string, error) {
	return grid.NodeID{}, "", huma.Error404NotFound("this network has no certificates")
}

func (noMembers) Certificate(grid.NodeID) *v1.Certificate { return nil }

func (noMembers) IsAdmin(grid.NodeID) bool { return true }

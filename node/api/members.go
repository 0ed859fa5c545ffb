package api

import (
	"context"
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skep/grid"
	"skep/node/api/v1"
)

// Members lets nodes into a network with certificates, and puts them out.
type Members interface {
	// Invite returns an invite when it is on disk: uses nodes may join with it while it lasts.
	Invite(name string, roles []string, uses int, lasts time.Duration) (string, error)
	// Revoke puts a member out, by name or whole ID, and returns when that is on disk and counts at this node.
	Revoke(ref string) (id grid.NodeID, name string, err error)
	// IsAdmin reports whether a node may drain this one.
	IsAdmin(n grid.NodeID) bool
}

// noMembers is what there is where nothing is known of certificates.
type noMembers struct{}

func (noMembers) Invite(string, []string, int, time.Duration) (string, error) {
	return "", huma.Error404NotFound("this network has no certificates")
}

func (noMembers) Revoke(string) (grid.NodeID, string, error) {
	return grid.NodeID{}, "", huma.Error404NotFound("this network has no certificates")
}

func (noMembers) IsAdmin(grid.NodeID) bool { return true }

type inviteIn struct{ Body v1.InviteRequest }

func (s *Server) invite(ctx context.Context, in *inviteIn) (*v1.Invite, error) {
	r, c := &in.Body, s.callerOf(ctx)
	if !(r.Expires > 0 && r.Expires < math.MaxInt64/float64(time.Second)) {
		return nil, huma.Error422UnprocessableEntity("expires_seconds: want more than 0")
	}
	text, err := s.o.Members.Invite(r.Name, r.Roles, r.Uses, time.Duration(r.Expires*float64(time.Second)))
	if err != nil {
		return nil, asUsage(err)
	}
	s.log.record(entry{act: "invite", of: "node", id: r.Name, by: c.node, user: c.user})
	return &v1.Invite{Invite: text}, nil
}

type revokeIn struct{ Body v1.RevokeRequest }

func (s *Server) revoke(ctx context.Context, in *revokeIn) (*v1.Revoked, error) {
	id, name, err := s.o.Members.Revoke(in.Body.Node)
	if err != nil {
		return nil, asUsage(err)
	}
	c := s.callerOf(ctx)
	s.log.record(entry{act: "revoke", of: "node", id: id.String(), by: c.node, user: c.user})
	return &v1.Revoked{Node: id.String(), Name: name}, nil
}

// asUsage gives an error about what was asked for a status.
func asUsage(err error) error { return huma.Error422UnprocessableEntity(err.Error()) }

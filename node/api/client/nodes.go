package client

import (
	"context"
	"net/http"

	"skep/node/api/v1"
)

// Nodes returns the nodes that the node knows, itself first.
func (c *Client) Nodes(ctx context.Context) (v1.NodeList, error) {
	var l v1.NodeList
	err := c.call(ctx, http.MethodGet, "/v1/nodes", nil, nil, &l)
	return l, err
}

// Node returns one of them; ref is an ID, a beginning of one, a name, or "self".
func (c *Client) Node(ctx context.Context, ref string) (v1.Node, error) {
	var n v1.Node
	err := c.call(ctx, http.MethodGet, "/v1/nodes/"+ref, nil, nil, &n)
	return n, err
}

// Token returns the token with which another machine joins.
func (c *Client) Token(ctx context.Context) (v1.Token, error) {
	var t v1.Token
	err := c.call(ctx, http.MethodGet, "/v1/token", nil, nil, &t)
	return t, err
}

// Invite makes an invite.
func (c *Client) Invite(ctx context.Context, r *v1.InviteRequest) (v1.Invite, error) {
	var i v1.Invite
	err := c.call(ctx, http.MethodPost, "/v1/invites", nil, r, &i)
	return i, err
}

// Revoke puts a member out of the network; ref is the name in its certificate, or its whole ID.
func (c *Client) Revoke(ctx context.Context, ref string) (v1.Revoked, error) {
	var r v1.Revoked
	err := c.call(ctx, http.MethodPost, "/v1/revocations", nil, &v1.RevokeRequest{Node: ref}, &r)
	return r, err
}

// Version returns the node's version.
func (c *Client) Version(ctx context.Context) (v1.Version, error) {
	var v v1.Version
	err := c.call(ctx, http.MethodGet, "/v1/version", nil, nil, &v)
	return v, err
}

// Stats returns the node's counts.
func (c *Client) Stats(ctx context.Context) (v1.Stats, error) {
	var s v1.Stats
	err := c.call(ctx, http.MethodGet, "/v1/stats", nil, nil, &s)
	return s, err
}

// Healthy reports whether the node answers.
func (c *Client) Healthy(ctx context.Context) error {
	resp, err := c.do(ctx, http.MethodGet, "/healthz", nil, nil, "")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

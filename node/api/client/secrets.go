package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"skep/node/api/v1"
)

// SetSecret sets a secret of the node, or sets it anew.
func (c *Client) SetSecret(ctx context.Context, name string, v *v1.SecretValue) (v1.Secret, error) {
	var s v1.Secret
	err := c.call(ctx, http.MethodPut, "/v1/secrets/"+url.PathEscape(name), nil, v, &s)
	return s, err
}

// Secrets returns the secrets that the node has set or holds, without their values.
func (c *Client) Secrets(ctx context.Context) (v1.SecretList, error) {
	var l v1.SecretList
	err := c.call(ctx, http.MethodGet, "/v1/secrets", nil, nil, &l)
	return l, err
}

// RemoveSecret has all nodes that hold a secret of the node forget it, and returns what is left. With
// anyway the node forgets it although some of them cannot be told.
func (c *Client) RemoveSecret(ctx context.Context, name string, anyway bool) (v1.SecretList, error) {
	var l v1.SecretList
	q := url.Values{"anyway": {strconv.FormatBool(anyway)}}
	err := c.call(ctx, http.MethodDelete, "/v1/secrets/"+url.PathEscape(name), q, nil, &l)
	return l, err
}

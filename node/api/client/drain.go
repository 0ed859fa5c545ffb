package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"skep/node/api/v1"
)

// Drain drains a node and returns its progress; ref as in Node. Tasks that still run after within are stopped.
func (c *Client) Drain(ctx context.Context, ref string, within time.Duration) (v1.Drain, error) {
	q := url.Values{"deadline": {strconv.FormatFloat(within.Seconds(), 'f', -1, 64)}}
	return c.drain(ctx, http.MethodPost, ref, q)
}

// Draining returns the progress of draining.
func (c *Client) Draining(ctx context.Context, ref string) (v1.Drain, error) {
	return c.drain(ctx, http.MethodGet, ref, nil)
}

// Undrain makes a node take tasks again.
func (c *Client) Undrain(ctx context.Context, ref string) (v1.Drain, error) {
	return c.drain(ctx, http.MethodDelete, ref, nil)
}

func (c *Client) drain(ctx context.Context, method, ref string, q url.Values) (v1.Drain, error) {
	var d v1.Drain
	err := c.call(ctx, method, "/v1/nodes/"+ref+"/drain", q, nil, &d)
	return d, err
}

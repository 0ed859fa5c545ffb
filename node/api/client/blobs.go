package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"skep/node/api/v1"
)

// HasBlob reports whether the node keeps a blob.
func (c *Client) HasBlob(ctx context.Context, blob string) (bool, error) {
	resp, err := c.do(ctx, http.MethodHead, "/v1/blobs/"+url.PathEscape(blob), nil, nil, "")
	var p *v1.Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	resp.Body.Close()
	return true, nil
}

// PutBlob hands content to the node; it refuses content that is not what the hash says.
func (c *Client) PutBlob(ctx context.Context, blob string, r io.Reader) error {
	resp, err := c.do(ctx, http.MethodPut, "/v1/blobs/"+url.PathEscape(blob), nil, r, "application/octet-stream")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// JobBlob opens a blob that is among a job's inputs or results.
func (c *Client) JobBlob(ctx context.Context, ref, blob string) (io.ReadCloser, error) {
	resp, err := c.do(ctx, http.MethodGet, job(ref, "blobs", blob), nil, nil, "")
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

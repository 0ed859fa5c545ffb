package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	v1 "skep/node/api/v1"
)

// HasBlob reports whether the node stores a blob, and its size.
func (c *Client) HasBlob(ctx context.Context, blob string) (size int64, has bool, err error) {
	resp, err := c.do(ctx, http.MethodHead, "/v1/blobs/"+url.PathEscape(blob), nil, nil, "")
	var p *v1.Problem
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return resp.ContentLength, true, resp.Body.Close()
}

// PutBlob uploads a blob; the node refuses content that does not match hash and size.
func (c *Client) PutBlob(ctx context.Context, blob string, size int64, r io.Reader) error {
	resp, err := c.send(ctx, http.MethodPut, "/v1/blobs/"+url.PathEscape(blob), nil, r, size, "application/octet-stream",
		nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// JobBlob opens a blob among the outputs of a task of a job, or among the job's inputs.
func (c *Client) JobBlob(ctx context.Context, ref, blob string, task uint32) (io.ReadCloser, error) {
	q := url.Values{"task": {strconv.FormatUint(uint64(task), 10)}}
	resp, err := c.ask(ctx, http.MethodGet, ref, "/blobs/"+blob, q)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"skep/node/api/v1"
)

// maxAnswer bounds an answer that is read whole, in bytes.
const maxAnswer = 256 << 20

// Client talks to one node. Several goroutines may use it.
type Client struct {
	dir   string
	token string
	http  *http.Client
}

// NoNodeError says that no node answers in a data folder.
type NoNodeError struct {
	Dir string
	Err error
}

// Error says what to do about it.
func (e *NoNodeError) Error() string {
	return fmt.Sprintf("no node runs in %s: start one with: skep up --data-dir %s", e.Dir, e.Dir)
}

// Unwrap returns what was found.
func (e *NoNodeError) Unwrap() error { return e.Err }

// Open returns a client of the node in a data folder. It connects with the first request.
func Open(dir string) (*Client, error) {
	token, err := os.ReadFile(filepath.Join(dir, TokenName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoNodeError{dir, err}
	}
	if err != nil {
		return nil, fmt.Errorf("token of the node in %s: %w", dir, err)
	}
	c := &Client{dir: dir, token: strings.TrimSpace(string(token))}
	c.http = &http.Client{Transport: &http.Transport{DialContext: c.dial, DisableCompression: true, MaxIdleConnsPerHost: 8}}
	return c, nil
}

func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	addr, release, err := SocketAddr(c.dir)
	if err != nil {
		return nil, err
	}
	defer release()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", addr)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, &NoNodeError{c.dir, err}
	}
	return conn, err
}

// Close lets the connections go.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// do asks without a length of the body where the body does not tell it.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, body io.Reader, kind string) (*http.Response, error) {
	return c.send(ctx, method, path, q, body, -1, kind)
}

// send sends a request and returns an answer whose status is below 400; any other is an error, a
// *v1.Problem where the node said one.
func (c *Client) send(ctx context.Context, method, path string, q url.Values, body io.Reader, size int64, kind string) (*http.Response, error) {
	u := url.URL{Scheme: "http", Host: "skep", Path: path, RawQuery: q.Encode()}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if size >= 0 {
		req.ContentLength = size
		if size == 0 {
			req.Body = http.NoBody
		}
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, plain(err)
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

// plain takes the URL off an error, which says nothing to a person here.
func plain(err error) error {
	var no *NoNodeError
	if errors.As(err, &no) {
		return no
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func problem(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	p := &v1.Problem{Status: resp.StatusCode}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), v1.ProblemType) && json.Unmarshal(b, p) == nil && p.Detail != "" {
		p.Status = resp.StatusCode
		return p
	}
	p.Detail = fmt.Sprintf("the node answered %s: %.200s", resp.Status, bytes.TrimSpace(b))
	return p
}

// call asks and reads the whole JSON answer into out.
func (c *Client) call(ctx context.Context, method, path string, q url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	resp, err := c.do(ctx, method, path, q, body, "application/json")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the node's answer broke off: %w", err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("the node's answer: %w", err)
	}
	return nil
}

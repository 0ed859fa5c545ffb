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

	v1 "skep/node/api/v1"
)

// maxAnswer bounds an answer that is read whole, in bytes.
const maxAnswer = 256 << 20

// Client is a client of one node. Its methods are safe for concurrent use.
type Client struct {
	dir    string // of a node on this machine
	scheme string
	host   string // of a node elsewhere; for one on this machine any name will do
	token  string
	http   *http.Client
	caps   capabilities
	given  *namedCapability // in place of the saved capabilities
	signed nonceCache
}

// NoNodeError reports that no node answers in a data folder, or at an address.
type NoNodeError struct {
	Dir  string
	Addr string
	Err  error
}

// Error says what to do about it.
func (e *NoNodeError) Error() string {
	if e.Addr != "" {
		return fmt.Sprintf("no node answers at %s: %v: want one there that was started with --api", e.Addr, e.Err)
	}
	return fmt.Sprintf("no node runs in %s: start one with: skep up --data-dir %s", e.Dir, e.Dir)
}

// Unwrap returns the cause.
func (e *NoNodeError) Unwrap() error { return e.Err }

// localName is a Host that every listener accepts.
const localName = "localhost"

// Open returns a client of the node in a data folder. It connects with the first request.
func Open(dir string) (*Client, error) {
	token, err := os.ReadFile(filepath.Join(dir, TokenName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoNodeError{Dir: dir, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("token of the node in %s: %w", dir, err)
	}
	c := &Client{dir: dir, scheme: "http", host: localName, token: strings.TrimSpace(string(token)),
		caps: capabilities{dir: filepath.Join(dir, CapabilityFolder)}}
	c.http = &http.Client{Transport: &http.Transport{DialContext: c.dial, DisableCompression: true,
		MaxIdleConnsPerHost: 8, ExpectContinueTimeout: untilAsked, WriteBufferSize: writeBuffer}}
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
		return nil, &NoNodeError{Dir: c.dir, Err: err}
	}
	if u, ok := conn.(*net.UnixConn); ok {
		_ = u.SetWriteBuffer(socketBuffer)
	}
	return conn, err
}

// Tell has f called with messages for the user about what the client did by itself. Call it before the first
// request.
func (c *Client) Tell(f func(string)) { c.caps.tell = f }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// do sends a request whose body has no stated length.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, body io.Reader,
	kind string) (*http.Response, error) {
	return c.send(ctx, method, path, q, body, -1, kind, nil)
}

// send sends a request and returns an answer whose status is below 400; any other is an error, a *v1.Problem if the
// node sent one.
func (c *Client) send(ctx context.Context, method, path string, q url.Values, body io.Reader, size int64, kind string,
	proof *v1.Proof) (*http.Response, error) {
	u := url.URL{Scheme: c.scheme, Host: c.host, Path: path, RawQuery: q.Encode()}
	if plain, err := url.PathUnescape(path); err == nil && strings.HasPrefix(path, jobsPath) {
		u.Path, u.RawPath = plain, path
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Host = localName // whatever the address: nodes check Host against what a page makes a browser send
	if size >= 0 {
		req.ContentLength = size
		if size == 0 {
			req.Body = http.NoBody
		}
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if proof != nil {
		req.Header.Set(v1.ProofHeader, proof.String())
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if kind == v1.ExecProtocol {
		req.Header.Set("Connection", "Upgrade")
		req.Header.Set("Upgrade", kind)
	}
	if kind == streamKind && size < 0 {
		req.Header.Set("Expect", "100-continue")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.plain(err)
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, problem(resp)
}

// plain removes the URL from an error, which does not help a person here, and says what it may mean that a node
// elsewhere hangs up.
func (c *Client) plain(err error) error {
	var no *NoNodeError
	if errors.As(err, &no) {
		return no
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if c.dir == "" && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) ||
		// before the request was written; the error has no value of its own
		strings.Contains(err.Error(), "server closed idle connection")) {
		return fmt.Errorf("the node at %s closed the connection without an answer (%w): it stopped, or too many are "+
			"connected to it at once, "+
			"or others without its token: try again", c.host, err)
	}
	return err
}

func problem(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	p := &v1.Problem{}
	defer func() {
		p.Status, p.Nonce = resp.StatusCode, resp.Header.Get(v1.NonceHeader)
		if job := resp.Header.Get(v1.JobHeader); job != "" {
			p.Job = job // another node may have written the answer itself
		}
	}()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), v1.ProblemType) && json.Unmarshal(b, p) == nil &&
		p.Detail != "" {
		v1.Printable(p)
		return p
	}
	p.Detail = fmt.Sprintf("the node answered %q: %.200q", resp.Status, bytes.TrimSpace(b))
	return p
}

// call sends a request and decodes the whole JSON answer into out.
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
	return answer(resp, out)
}

// answer decodes a whole JSON answer.
func answer(resp *http.Response, out any) error {
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the node's answer broke off: %w", err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("the node's answer: %w", err)
	}
	v1.Printable(out)
	return nil
}

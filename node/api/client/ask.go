package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// namedCapability is a capability that the caller set, and its job; the zero job: any.
type namedCapability struct {
	v1.Capability
	job grid.JobID
}

// Use sets the capability for requests about a job, in place of those in the data folder. The zero job is any.
func (c *Client) Use(capability v1.Capability, of grid.JobID) {
	c.given = &namedCapability{capability, of}
}

// nonceCache holds the last nonce of a node, so that requests about one job need not each be made twice.
type nonceCache struct {
	mu    sync.Mutex
	id    grid.JobID
	nonce string
	at    time.Time
}

// nonceUse is for how long a nonce is used: less than a node accepts it.
const nonceUse = 90 * time.Second

func (s *nonceCache) keep(id grid.JobID, nonce string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.nonce, s.at = id, nonce, time.Now()
}

func (s *nonceCache) of(id grid.JobID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id != id || time.Since(s.at) > nonceUse {
		return ""
	}
	return s.nonce
}

// capability returns a job's capability: the one that was set, else the one in the data folder; nil if there is
// none.
func (c *Client) capability(id grid.JobID) (*v1.Capability, error) {
	switch {
	case c.given == nil:
		return c.caps.of(id.String())
	case c.given.job != (grid.JobID{}) && c.given.job != id:
		return nil, &v1.Problem{Status: http.StatusForbidden,
			Detail: "the capability is of job " + c.given.job.Short() + ", and this is job " + id.Short() +
				": want that job's own"}
	}
	return &c.given.Capability, nil
}

// ask makes a request about a job and, if its capability is here and required, proves to have it. A node that
// requires a proof answers with a nonce for it.
func (c *Client) ask(ctx context.Context, method, ref, of string, q url.Values) (*http.Response, error) {
	return c.askKind(ctx, method, ref, of, q, "")
}

// askKind is ask for a kind of send.
func (c *Client) askKind(ctx context.Context, method, ref, of string, q url.Values, kind string) (*http.Response,
	error) {
	id, err := grid.ParseJobID(ref)
	if err == nil {
		nonce, err := c.nonceFor(ctx, id, method+of)
		if err != nil {
			return nil, err
		}
		if nonce != "" {
			return c.prove(ctx, method, id, of, q, kind, nonce)
		}
	}
	resp, err := c.send(ctx, method, jobPath(ref)+of, q, nil, -1, kind, nil)
	nonce, told := wanted(resp, err)
	if nonce == "" {
		return resp, err
	}
	if id == (grid.JobID{}) {
		if !couldName(ref, told) && !c.isNamed(ctx, ref, told) {
			return resp, err
		}
		id, _ = grid.ParseJobID(told)
	}
	key, kerr := c.capability(id)
	if key == nil && kerr == nil {
		return resp, err
	}
	if resp != nil {
		resp.Body.Close()
	}
	if kerr != nil {
		return nil, kerr
	}
	return c.prove(ctx, method, id, of, q, kind, nonce)
}

// nonceFor returns a nonce if a job's capability is here: so a request is not refused first, which would be in the
// log of the node that has the job.
func (c *Client) nonceFor(ctx context.Context, id grid.JobID, what string) (string, error) {
	if key, err := c.capability(id); key == nil || err != nil {
		return "", nil // if a proof is required, the request's own answer says so
	}
	if nonce := c.signed.of(id); nonce != "" || what == http.MethodGet {
		return nonce, nil
	}
	resp, err := c.send(ctx, http.MethodGet, jobPath(id.String()), nil, nil, -1, "", nil)
	nonce, _ := wanted(resp, err)
	if resp != nil {
		resp.Body.Close()
	}
	var p *v1.Problem
	if err != nil && !errors.As(err, &p) {
		return "", err
	}
	return nonce, nil
}

// prove makes a request with a proof of the job's capability; again if the nonce was too old, or another node's.
func (c *Client) prove(ctx context.Context, method string, id grid.JobID, of string, q url.Values,
	kind, nonce string) (resp *http.Response, err error) {
	key, err := c.capability(id)
	if err != nil {
		return nil, err
	}
	for range 2 {
		if resp != nil {
			resp.Body.Close()
		}
		c.signed.keep(id, nonce)
		path := jobPath(id.String()) + of
		proof := key.Prove(&v1.Request{Job: id, Method: method, Path: path, Query: q.Encode(), Nonce: nonce})
		resp, err = c.send(ctx, method, path, q, nil, -1, kind, proof)
		if nonce, _ = wanted(resp, err); nonce == "" {
			break
		}
	}
	return resp, err
}

// wanted returns the nonce for which an answer requires a proof, if it does, and the job that the asked node took
// the request for.
func wanted(resp *http.Response, err error) (nonce, job string) {
	if p := (*v1.Problem)(nil); errors.As(err, &p) {
		return p.Nonce, p.Job
	}
	if resp == nil {
		return "", ""
	}
	return resp.Header.Get(v1.NonceHeader), resp.Header.Get(v1.JobHeader)
}

// askJSON is ask for a whole JSON answer.
func (c *Client) askJSON(ctx context.Context, method, ref, of string, q url.Values, out any) error {
	resp, err := c.ask(ctx, method, ref, of, q)
	if err != nil {
		return err
	}
	job := resp.Header.Get(v1.JobHeader)
	if err := answer(resp, out); err != nil {
		return err
	}
	if got := about(out); job != "" && got != job {
		return fmt.Errorf("the answer about job %.80q is about job %.80q: the node that keeps it does not tell the truth",
			job, got)
	}
	return nil
}

// about returns the job that an answer is about.
func about(out any) string {
	switch v := out.(type) {
	case *v1.Job:
		return v.ID
	case *v1.TaskPage:
		return v.Job
	case *v1.Signatures:
		return v.Job
	case *v1.Explanation:
		return v.Job.ID
	case *v1.TaskChange:
		return v.Job.ID
	}
	return ""
}

// submit submits a job. Under access owner, requested or the node's default, it is refused first: the node states
// the whole ID, for which the client draws and saves a capability before the job can exist. So it is when a
// submission is repeated.
func (c *Client) submit(ctx context.Context, id string, spec *v1.Spec, q url.Values) (*http.Response, error) {
	resp, err := c.post(ctx, id, spec, q, nil)
	var p *v1.Problem
	if !errors.As(err, &p) || !couldName(id, p.Job) {
		return resp, err
	}
	keep := c.caps.of // it exists already
	if p.Status == http.StatusPreconditionRequired {
		keep = c.caps.draw
	}
	key, kerr := keep(p.Job)
	if key == nil || kerr != nil {
		return nil, cmp.Or(kerr, err)
	}
	hash := key.Hash()
	spec.Access, spec.Capability = string(grid.AccessOwner), hex.EncodeToString(hash[:])
	job, kerr := grid.ParseJobID(p.Job)
	if kerr != nil {
		return nil, kerr
	}
	c.signed.keep(job, p.Nonce)
	proof := key.Prove(&v1.Request{Job: job, Method: http.MethodPost, Path: "/v1/jobs", Query: q.Encode(), Nonce: p.Nonce})
	return c.post(ctx, p.Job, spec, q, proof)
}

func (c *Client) post(ctx context.Context, id string, spec *v1.Spec, q url.Values, proof *v1.Proof) (*http.Response,
	error) {
	b, err := json.Marshal(v1.Submission{ID: id, Spec: *spec})
	if err != nil {
		return nil, err
	}
	return c.send(ctx, http.MethodPost, "/v1/jobs", q, bytes.NewReader(b), int64(len(b)), "application/json", proof)
}

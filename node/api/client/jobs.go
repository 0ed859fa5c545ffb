package client

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"skep/grid"
	"skep/node/api/v1"
)

// Draw draws the caller's part of a new job's ID. A submission repeated with it is the same job.
func Draw() string {
	var b [10]byte
	rand.Read(b[:])
	return base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").EncodeToString(b[:])
}

// Submit submits a job under a drawn ID, and returns when it is saved. Under access owner it adds the capability's
// hash to spec.
func (c *Client) Submit(ctx context.Context, id string, spec *v1.Spec) (v1.Job, error) {
	var j v1.Job
	resp, err := c.submit(ctx, id, spec, nil)
	if err == nil {
		err = answer(resp, &j)
	}
	return j, err
}

// Run submits a job, as Submit, and follows it to its end.
func (c *Client) Run(ctx context.Context, id string, spec *v1.Spec) (*Stream, error) {
	resp, err := c.submit(ctx, id, spec, url.Values{"follow": {"true"}})
	if err != nil {
		return nil, err
	}
	return newStream(resp.Body), nil
}

// Jobs returns a page of the node's own jobs, newest first: at most limit, older than the one named by after, in the
// state if one is given.
func (c *Client) Jobs(ctx context.Context, limit int, after, state string) (v1.JobPage, error) {
	q := url.Values{}
	set(q, "limit", strconv.Itoa(limit), limit > 0)
	set(q, "after", after, after != "")
	set(q, "state", state, state != "")
	var p v1.JobPage
	err := c.call(ctx, http.MethodGet, "/v1/jobs", q, nil, &p)
	return p, err
}

// Job returns a job; ref is an ID, a beginning of one, or "last".
func (c *Client) Job(ctx context.Context, ref string) (v1.Job, error) {
	var j v1.Job
	err := c.askJSON(ctx, http.MethodGet, ref, "", nil, &j)
	return j, err
}

// Wait returns the job when it is over, or as it is after d.
func (c *Client) Wait(ctx context.Context, ref string, d time.Duration) (v1.Job, error) {
	var j v1.Job
	if _, err := grid.ParseJobID(ref); err != nil { // its capability may be here: then the answer has how it ended
		if j, err = c.Job(ctx, ref); err != nil || j.Over() {
			return j, err
		}
		ref = j.ID
	}
	q := url.Values{"timeout": {strconv.FormatFloat(d.Seconds(), 'f', -1, 64)}}
	err := c.askJSON(ctx, http.MethodGet, ref, "/wait", q, &j)
	return j, err
}

// Cancel ends a job.
func (c *Client) Cancel(ctx context.Context, ref string) (v1.Job, error) {
	var j v1.Job
	err := c.askJSON(ctx, http.MethodPost, ref, "/cancel", nil, &j)
	return j, err
}

// Tasks returns tasks of a job from an index on; limit 0 is the node's own bound.
func (c *Client) Tasks(ctx context.Context, ref string, from uint32, limit int) (v1.TaskPage, error) {
	var p v1.TaskPage
	err := c.askJSON(ctx, http.MethodGet, ref, "/tasks", page(from, limit), &p)
	return p, err
}

// EachTask calls f with every task of a job, by index.
func (c *Client) EachTask(ctx context.Context, ref string, f func(*v1.Task) error) error {
	for from := uint32(0); ; {
		p, err := c.Tasks(ctx, ref, from, 0)
		if err != nil {
			return err
		}
		for i := range p.Tasks {
			if err := f(&p.Tasks[i]); err != nil {
				return err
			}
		}
		if p.Next == nil {
			return nil
		}
		ref, from = p.Job, *p.Next
	}
}

// Explain returns the traces of a job's tasks from an index on.
func (c *Client) Explain(ctx context.Context, ref string, from uint32, limit int) (v1.Explanation, error) {
	var e v1.Explanation
	err := c.askJSON(ctx, http.MethodGet, ref, "/explain", page(from, limit), &e)
	return e, err
}

// Logs streams the output of one task, from an offset of each stream on; with follow until it has ended.
func (c *Client) Logs(ctx context.Context, ref string, task uint32, follow bool, offset int64) (*Stream, error) {
	q := url.Values{"task": {strconv.FormatUint(uint64(task), 10)}, "offset": {strconv.FormatInt(offset, 10)}}
	set(q, "follow", "true", follow)
	resp, err := c.ask(ctx, http.MethodGet, ref, "/logs", q)
	if err != nil {
		return nil, err
	}
	return newStream(resp.Body), nil
}

func page(from uint32, limit int) url.Values {
	q := url.Values{"from": {strconv.FormatUint(uint64(from), 10)}}
	set(q, "limit", strconv.Itoa(limit), limit > 0)
	return q
}

func set(q url.Values, key, value string, is bool) {
	if is {
		q.Set(key, value)
	}
}

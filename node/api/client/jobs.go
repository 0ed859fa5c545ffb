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

// Run submits a job, as Submit, and follows it to its end; with progress the stream also says how far it is. Nodes of
// older versions do not.
func (c *Client) Run(ctx context.Context, id string, spec *v1.Spec, progress bool) (*Stream, error) {
	q := url.Values{"follow": {"true"}}
	set(q, "progress", "true", progress)
	resp, err := c.submit(ctx, id, spec, q)
	if err != nil {
		return nil, err
	}
	return newStream(resp.Body), nil
}

// ListQuery selects jobs of a list. The zero value selects the newest 100 that were submitted to the node.
type ListQuery struct {
	Grid  bool      // jobs of all nodes
	Limit int       // at most so many, 1 to 1000; 0 = 100
	After string    // older than this one, by its whole ID; not with Grid
	State string    // names of states with commas between them; "" = any
	Name  string    // a shell pattern of the whole name; "" = any
	Since time.Time // submitted then or later, in whole seconds; zero = any
	Mine  bool      // submitted at the node by the user who asks
}

// List returns a page of jobs, newest first.
func (c *Client) List(ctx context.Context, l *ListQuery) (v1.JobPage, error) {
	q := url.Values{}
	set(q, "scope", "grid", l.Grid)
	set(q, "limit", strconv.Itoa(l.Limit), l.Limit > 0)
	set(q, "after", l.After, l.After != "")
	set(q, "state", l.State, l.State != "")
	set(q, "name", l.Name, l.Name != "")
	set(q, "since", l.Since.UTC().Format(time.RFC3339), !l.Since.IsZero())
	set(q, "mine", "true", l.Mine)
	var p v1.JobPage
	err := c.call(ctx, http.MethodGet, "/v1/jobs", q, nil, &p)
	return p, err
}

// Job returns a job; ref is an ID, a beginning of one, a name, or "last".
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

// CancelTasks ends tasks of a job, named as in 0-9,12.
func (c *Client) CancelTasks(ctx context.Context, ref, tasks string) (v1.TaskChange, error) {
	var x v1.TaskChange
	err := c.askJSON(ctx, http.MethodPost, ref, "/tasks/cancel", url.Values{"tasks": {tasks}}, &x)
	return x, err
}

// RetryTasks has tasks of a job run again that have ended: those named as in 0-9,12, or with "" those that failed.
func (c *Client) RetryTasks(ctx context.Context, ref, tasks string) (v1.TaskChange, error) {
	q := url.Values{}
	set(q, "tasks", tasks, tasks != "")
	set(q, "failed", "true", tasks == "")
	var x v1.TaskChange
	err := c.askJSON(ctx, http.MethodPost, ref, "/tasks/retry", q, &x)
	return x, err
}

// Tasks returns tasks of a job from an index on; limit 0 is the node's own bound.
func (c *Client) Tasks(ctx context.Context, ref string, from uint32, limit int) (v1.TaskPage, error) {
	var p v1.TaskPage
	err := c.askJSON(ctx, http.MethodGet, ref, "/tasks", page(from, limit), &p)
	return p, err
}

// Signatures returns what the node, if it keeps a job, has found of its signatures, for tasks from an index on; limit 0
// is the node's own bound.
func (c *Client) Signatures(ctx context.Context, ref string, from uint32, limit int) (v1.Signatures, error) {
	var s v1.Signatures
	err := c.askJSON(ctx, http.MethodGet, ref, "/signatures", page(from, limit), &s)
	return s, err
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

package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/api/v1"
)

// Jobs of node alpha: bcdea…, bcdeb…; of beta: bcdec…, xyza…; of gamma: xyza…, qqqq….
func TestResolve(t *testing.T) {
	a, b, c := newFake(t, 1, "alpha"), newFake(t, 2, "beta"), newFake(t, 3, "gamma")
	a.connect(b)
	a.connect(c)
	urls := []string{a.serve().URL, b.serve().URL, c.serve().URL}
	submit(t, urls[0], "bcdea", "")
	submit(t, urls[0], "bcdeb", "")
	submit(t, urls[1], "bcdec", "")
	submit(t, urls[1], "xyza", "")
	submit(t, urls[2], "xyza", "")
	submit(t, urls[2], "qqqq", "")
	id := func(nonce string, f *fake) string {
		return nonce + strings.Repeat("a", 16-len(nonce)) + "-" + f.self.String()
	}

	for _, tc := range []struct {
		ref    string
		status int
		want   string // the job's ID, or a part of the error
	}{
		{id("bcdea", a), 200, id("bcdea", a)},
		{"bcdea", 200, id("bcdea", a)},
		{"last", 200, id("bcdeb", a)},
		{"bcde", 409, id("bcdeb", a)},
		{"bcdec", 200, id("bcdec", b)}, // none here begins so: the others are asked
		{"bcde-" + b.self.String()[:5], 200, id("bcdec", b)},
		{"xyza", 409, id("xyza", b) + ", running at beta"},
		{"xyza-" + c.self.String(), 200, id("xyza", c)},
		{id("xyza", b), 200, id("xyza", b)},
		{id("xyza", c), 200, id("xyza", c)},
		{id("qqqq", c), 200, id("qqqq", c)},
		{"zzzz", 404, "is not known here, nor to the other nodes: want the beginning of an ID, of 4 or more characters, " +
			"a job's name, or last"},
		{"bcd", 404, "4 or more characters"},
		{strings.Repeat("a", 129), 422, "want an ID, 4 or more characters of its beginning, a job's name, or last"},
		{"a%1b%5b2J", 422, `"a\\x1b[2J\": want an ID`},
		{id("zzzz", a), 404, "is not known"},
		{id("zzzz", &fake{self: grid.NodeID{9}}), 502, "cannot be asked now: no connection to it"},
	} {
		status, text := ask(t, http.MethodGet, urls[0]+"/v1/jobs/"+tc.ref, "")
		if status != tc.status || !strings.Contains(text, tc.want) {
			t.Errorf("job %s: status %d, %s: want %d and %q", tc.ref, status, text, tc.status, tc.want)
		}
	}
}

// A name stands for the one job that has it; jobs of this node come before those of others.
func TestResolveNames(t *testing.T) {
	a, b, c := newFake(t, 1, "alpha"), newFake(t, 2, "beta"), newFake(t, 3, "gamma")
	a.connect(b)
	a.connect(c)
	urls := []string{a.serve().URL, b.serve().URL, c.serve().URL}
	name := func(url, nonce, name string) string {
		return submit(t, url, nonce, fmt.Sprintf(`,"name":%q`, name)).ID
	}
	sweep, old, train := name(urls[0], "bcde", "sweep"), name(urls[0], "xyza", "twice"), name(urls[1], "ccdd", "train")
	twice := name(urls[0], "xyzb", "twice")
	name(urls[1], "ccde", "sweep")
	eval := name(urls[2], "dddd", "eval/a b%1")
	named := name(urls[2], "eeee", "bcde")
	name(urls[0], "hhhh", "bcde")
	dots := name(urls[1], "ffff", "..")
	name(urls[1], "gggg", "every")
	name(urls[2], "gggh", "every")
	for _, tc := range []struct {
		ref    string
		status int
		want   string
	}{
		{"sweep", 200, sweep}, // though another node has one of this name too
		{"train", 200, train},
		{"eval%2Fa%20b%251", 200, eval},
		{"%2E%2E", 200, dots},
		{"bcde", 200, sweep}, // the beginning of an ID wins over a name
		{"twice", 409, twice + " twice, running\"},{\"message\":\"" + old},
		{"every", 409, " every, running at gamma"},
		{"swee", 404, "is not known here"},
		{"SWEEP", 404, "is not known here"},
	} {
		status, text := ask(t, http.MethodGet, urls[0]+"/v1/jobs/"+tc.ref, "")
		if status != tc.status || !strings.Contains(text, strings.ReplaceAll(tc.want, `\"`, `"`)) {
			t.Errorf("job %s: status %d, %s: want %d and %q", tc.ref, status, text, tc.status, tc.want)
		}
	}
	get[v1.Job](t, "POST", urls[0]+"/v1/jobs/"+named+"/cancel", "")
	get[v1.Job](t, "POST", urls[0]+"/v1/jobs/eval%2Fa%20b%251/cancel", "")
	c.end(&grid.Result{Cause: grid.Cancelled, Exit: 130})
	if j := get[v1.Job](t, "GET", urls[2]+"/v1/jobs/"+eval, ""); j.State != v1.JobCancelled {
		t.Errorf("job is %s: want it cancelled by its name", j.State)
	}
	a.silent = []grid.NodeID{{8}, {9}}
	_, text := ask(t, http.MethodGet, urls[0]+"/v1/jobs/nothing", "")
	if !strings.Contains(text, "2 nodes did not answer") {
		t.Errorf("%s: want how many nodes did not answer", text)
	}
}

func TestForeignJobsAreRelayedToTheOrigin(t *testing.T) {
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	at, to := a.serve().URL, b.serve().URL
	b.print = [2]string{"from afar", ""}
	j := submit(t, to, "bcde", "")
	if _, text := ask(t, "GET", at+"/v1/jobs/"+j.ID+"/logs?stream=stdout", ""); text != "from afar" {
		t.Errorf("logs %q: want those of the other node", text)
	}
	if e := get[v1.Explanation](t, "GET", at+"/v1/jobs/"+j.ID+"/explain", ""); e.Job.ID != j.ID {
		t.Errorf("explanation of %s: want %s", e.Job.ID, j.ID)
	}
	if p := get[v1.TaskPage](t, "GET", at+"/v1/jobs/"+j.ID+"/tasks", ""); p.Job != j.ID || len(p.Tasks) != 1 {
		t.Errorf("tasks %+v: want one of %s", p, j.ID)
	}
	get[v1.Job](t, "POST", at+"/v1/jobs/"+j.ID+"/cancel", "")
	b.end(&grid.Result{Cause: grid.Cancelled, Exit: 130})
	if k := get[v1.Job](t, "GET", at+"/v1/jobs/"+j.ID+"/wait", ""); k.State != v1.JobCancelled {
		t.Errorf("job is %s: want it cancelled", k.State)
	}
}

// Other members may only make requests about jobs of this node, by whole ID; above all they cannot submit, read the
// token, have a request relayed, or find jobs by a part of the ID.
func TestMembersReachOnlyJobsOfThisNode(t *testing.T) {
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	own := submit(t, a.serve().URL, "xyza", "")
	url := b.serve().URL
	other := submit(t, url, "bcde", "")
	s := New(a, Options{})
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/v1/jobs", 403}, {"GET", "/v1/jobs", 403}, {"GET", "/v1/token", 403}, {"GET", "/v1/config", 403},
		{"GET", "/v1/nodes", 403}, {"GET", "/metrics", 403}, {"PUT", "/v1/blobs/" + strings.Repeat("1", 64), 403},
		{"GET", "/v1/blobs/" + strings.Repeat("1", 64), 403}, {"GET", "/openapi.json", 403},
		{"GET", "/v1/jobs/" + other.ID, 404}, {"GET", "/v1/jobs/last", 404},
		{"GET", "/v1/jobs/xyza", 404}, {"GET", "/v1/jobs/" + own.ID[:16], 404}, {"GET", "/v1/jobs/" + own.ID, 200},
	} {
		if w := serveOnce(s.MemberHandler(), tc.method, tc.path); w.Code != tc.status {
			t.Errorf("%s %s: status %d: want %d", tc.method, tc.path, w.Code, tc.status)
		}
	}
}

package api

import (
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
		{"bcdec", 404, "submitted at another node must be whole"}, // not own: no other node is asked
		{"bcde-" + b.self.String()[:5], 404, "must be whole"},
		{"xyza", 404, "must be whole"},
		{"xyza-" + c.self.String(), 404, "must be whole"},
		{id("xyza", b), 200, id("xyza", b)},
		{id("xyza", c), 200, id("xyza", c)},
		{id("qqqq", c), 200, id("qqqq", c)},
		{"zzzz", 404, "not known here"},
		{"bcd", 422, "4 to 16 characters"},
		{"BCDE", 422, "4 to 16 characters"},
		{"bcde-" + c.self.String()[:5] + "!", 422, "a-z and 2-7"},
		{strings.Repeat("a", 17), 422, "4 to 16 characters"},
		{id("zzzz", a), 404, "is not known"},
		{id("zzzz", &fake{self: grid.NodeID{9}}), 502, "cannot be asked now: no connection to it"},
	} {
		status, text := ask(t, http.MethodGet, urls[0]+"/v1/jobs/"+tc.ref, "")
		if status != tc.status || !strings.Contains(text, tc.want) {
			t.Errorf("job %s: status %d, %s: want %d and %q", tc.ref, status, text, tc.status, tc.want)
		}
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

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"", "last", "bcde", "bcde-fghi", "-", "bcde-", strings.Repeat("a", 80), "bcdé"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parseRef(s)
		if err != nil {
			return
		}
		if len(p.nonce) < minPrefix || len(p.nonce) > 16 || len(p.origin) > 52 ||
			strings.Trim(p.nonce+p.origin, "abcdefghijklmnopqrstuvwxyz234567") != "" {
			t.Errorf("%q reads as %+v, which is no part of an ID", s, p)
		}
	})
}

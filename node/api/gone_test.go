package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// Who asks for a job that has gone is told by which bound, whatever he asks and however he names the job; and of one
// of which nothing is known, that it may have gone. A job that is here comes before one that has gone.
func TestWhyAJobHasGone(t *testing.T) {
	f := newFakeWith(t, 1, "alpha", func(c *node.Config) { c.Retention.Jobs = 1 })
	url := f.serve().URL
	old := submit(t, url, "bcde", `,"name":"sweep"`).ID
	f.end(&grid.Result{Cause: grid.Exited})
	submit(t, url, "bcdf", `,"name":"train"`)
	f.end(&grid.Result{Cause: grid.Exited})
	f.mu.Lock()
	f.now = f.now.Add(2 * time.Minute)
	f.mu.Unlock()
	submit(t, url, "xyza", "")
	f.end(&grid.Result{Cause: grid.Exited})
	for _, c := range []struct{ path, want string }{
		{old, "is gone: of jobs that have ended this node keeps 1 (keep jobs=1)"},
		{old + "/tasks", "is gone: of jobs that have ended"},
		{old + "/explain", "is gone: of jobs that have ended"},
		{"bcde", "job " + old + ": is gone"},
		{"sweep", "job " + old + ": is gone"},
		{strings.Replace(old, "bcde", "zzzz", 1), "is not known: it never was here, or it is over and has gone since (keep)"},
		{"nothing", "one that is over may have gone since (keep)"},
	} {
		if status, text := ask(t, http.MethodGet, url+"/v1/jobs/"+c.path, ""); status != 404 ||
			!strings.Contains(text, c.want) {
			t.Errorf("%s: status %d, %s: want 404 and %q", c.path, status, text, c.want)
		}
	}
	again := submit(t, url, "yyyy", `,"name":"sweep"`).ID
	if status, text := ask(t, http.MethodGet, url+"/v1/jobs/sweep", ""); status != 200 || !strings.Contains(text, again) {
		t.Errorf("a new job of its name: status %d, %s", status, text)
	}
}

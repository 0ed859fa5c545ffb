package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"skep/grid"
	"skep/node/api/v1"
)

const nonce = "00ff00ff00ff00ff"

// fakeNode is a node that took a request for job meant, and relays another node's answer.
type fakeNode struct {
	mu    sync.Mutex
	asked []string      // method and path; with a proof, + after them
	meant string        // what the node itself resolved
	says  func() v1.Job // the other node's answer
	deny  func() v1.Problem
}

func (d *fakeNode) client(t *testing.T) *Client {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		proof := r.Header.Get(v1.ProofHeader)
		d.asked = append(d.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path,
			"/v1/jobs/")+map[bool]string{true: " +"}[proof != ""])
		w.Header().Set(v1.JobHeader, d.meant)
		if proof == "" && d.deny != nil {
			w.Header().Set(v1.NonceHeader, nonce)
			w.Header().Set("Content-Type", v1.ProblemType)
			w.WriteHeader(http.StatusForbidden)
			w.Write([]byte(`{"detail":"closed","job":"` + d.deny().Job + `"}`))
			return
		}
		w.Write([]byte(`{"id":"` + d.says().ID + `","access":"members"}`))
	}))
	t.Cleanup(srv.Close)
	return OpenRemote(Remote{Addr: strings.TrimPrefix(srv.URL, "http://"), Token: "t"}, t.TempDir())
}

// A refusal by another node about another job does not make the client cancel that job.
func TestRefusalCannotNameAnotherJob(t *testing.T) {
	meant, victim := jobText(1), jobText(2)
	d := &fakeNode{meant: meant, deny: func() v1.Problem { return v1.Problem{Job: victim} },
		says: func() v1.Job { return v1.Job{ID: meant} }}
	c := d.client(t)
	for _, id := range []string{meant, victim} {
		if _, err := c.caps.draw(id); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Cancel(t.Context(), "last"); err != nil {
		t.Error(err)
	}
	if got, want := strings.Join(d.asked, ", "), "POST last/cancel, POST "+meant+"/cancel +"; got != want {
		t.Errorf("asked %s: want %s", got, want)
	}
}

// An answer about another job than the requested one is an error.
func TestAnswerAboutAnotherJobIsAnError(t *testing.T) {
	d := &fakeNode{meant: jobText(1), says: func() v1.Job { return v1.Job{ID: jobText(2)} }}
	if j, err := d.client(t).Job(t.Context(), "last"); err == nil || !strings.Contains(err.Error(), jobText(1)) {
		t.Errorf("%+v, %v: want an error that names the job", j, err)
	}
}

// A proof is made only on request, with the capability of that job; then the node's nonce is reused.
func TestProofsAreMadeOnRequest(t *testing.T) {
	id := jobText(1)
	job, _ := grid.ParseJobID(id)
	other, _ := grid.ParseJobID(jobText(2))
	for _, tc := range []struct {
		what  string
		owner bool
		use   func(c *Client)
		want  string
		err   string
	}{
		{"a members' job", false, func(c *Client) { c.Use(v1.Capability{1}, job) }, "GET ID, POST ID/cancel", ""},
		{"an owner's job", true, func(c *Client) { c.Use(v1.Capability{1}, job) }, "GET ID, POST ID/cancel +, GET ID/tasks +",
			""},
		{"of any job", true, func(c *Client) { c.Use(v1.Capability{1}, grid.JobID{}) },
			"GET ID, POST ID/cancel +, GET ID/tasks +", ""},
		{"another job's", true, func(c *Client) { c.Use(v1.Capability{1}, other) }, "POST ID/cancel",
			"is of job " + other.Short()},
		{"none", true, func(*Client) {}, "POST ID/cancel", "closed"},
	} {
		d := &fakeNode{meant: id, says: func() v1.Job { return v1.Job{ID: id} }}
		if tc.owner {
			d.deny = func() v1.Problem { return v1.Problem{Job: id} }
		}
		c := d.client(t)
		tc.use(c)
		_, err := c.Cancel(context.Background(), id)
		if err == nil && tc.owner {
			_, err = c.ask(context.Background(), http.MethodGet, id, "/tasks", nil)
		}
		if got := strings.ReplaceAll(strings.Join(d.asked, ", "), id, "ID"); got != tc.want {
			t.Errorf("%s: asked %s: want %s", tc.what, got, tc.want)
		}
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: error %v: want %q", tc.what, err, tc.err)
		}
	}
}

// Capabilities of other jobs in the folder are not read.
func TestOtherCapabilitiesAreNotRead(t *testing.T) {
	id := jobText(1)
	d := &fakeNode{meant: id, deny: func() v1.Problem { return v1.Problem{Job: id} },
		says: func() v1.Job { return v1.Job{ID: id} }}
	c := d.client(t)
	if err := os.MkdirAll(c.caps.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.caps.dir, jobText(2)), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Cancel(t.Context(), id); err == nil || strings.Contains(err.Error(), "broken") || len(d.asked) != 1 {
		t.Errorf("%v after %v", err, d.asked)
	}
}

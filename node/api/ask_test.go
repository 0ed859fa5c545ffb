package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"skep/node/api/v1"
)

// serve serves a node's API to its user, over TCP without a token, and to the members.
func (f *fake) serve() *httptest.Server { return f.serveAs(Options{}) }

func (f *fake) serveAs(o Options) *httptest.Server {
	o.Version = v1.Version{Version: "test"}
	s := New(f, o)
	f.srv = s
	members := s.server(s.MemberHandler())
	members.ConnContext = s.memberContext
	go members.Serve(f)
	f.t.Cleanup(func() { members.Close() })
	srv := httptest.NewServer(s.LocalHandler())
	f.t.Cleanup(srv.Close)
	return srv
}

// ask sends a request and returns status and body.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	return askWith(t, method, url, body, nil)
}

// askWith is ask with more headers.
func askWith(t *testing.T, method, url, body string, more map[string]string) (int, string) {
	t.Helper()
	return askVia(t, http.DefaultClient, method, url, body, more)
}

func askVia(t *testing.T, c *http.Client, method, url, body string, more map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range more {
		req.Header.Set(k, v)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// get requests JSON.
func get[T any](t *testing.T, method, url, body string) T {
	t.Helper()
	status, text := ask(t, method, url, body)
	var v T
	if status != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s", method, url, status, text)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s %s: %v in %s", method, url, err, text)
	}
	return v
}

// submit submits a job under a nonce filled up with a's.
func submit(t *testing.T, url, nonce, more string) v1.Job {
	t.Helper()
	nonce += strings.Repeat("a", 16-len(nonce))
	return get[v1.Job](t, http.MethodPost, url+"/v1/jobs", `{"id":"`+nonce+`","spec":{"command":["true"]`+more+`}}`)
}

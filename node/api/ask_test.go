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

// serve opens the door of a node to its owner, over TCP without a guard, and to the members.
func (f *fake) serve() *httptest.Server {
	s := New(f, Options{Version: v1.Version{Version: "test"}})
	members := &http.Server{Handler: s.Members()}
	go members.Serve(f)
	f.t.Cleanup(func() { members.Close() })
	srv := httptest.NewServer(s.Owner())
	f.t.Cleanup(srv.Close)
	return srv
}

// ask asks and returns status and body.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
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

// get asks for JSON.
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

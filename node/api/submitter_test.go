package api

import (
	"context"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"skep/node/api/client"
	"skep/node/api/v1"
)

// open serves a node at a socket in a data folder, and on TCP, as skep up does, and returns a client of it.
func (f *fake) open(o Options) (c *client.Client, dir, tcp string) {
	f.t.Helper()
	dir = filepath.Join(f.t.TempDir(), f.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.t.Fatal(err)
	}
	l, err := Listen("127.0.0.1:0")
	if err == nil {
		err = l.Open(dir)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	s := New(f, o)
	go func() { served <- s.Serve(ctx, l) }()
	f.t.Cleanup(func() { cancel(); <-served })
	if c, err = client.Open(dir); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c, dir, strings.TrimPrefix(l.URLs()[0], "http://")
}

// The submitter is the user of the process at the other end of the socket, and over TCP the node's own: never what
// a request says.
func TestSubmitterIsFoundByTheNode(t *testing.T) {
	f := newFake(t, 1, "alpha")
	c, dir, tcp := f.open(Options{})
	me, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		t.Skip(err)
	}
	want := v1.Submitter{Node: f.self.String(), User: me.Username}
	j, err := c.Submit(context.Background(), client.Draw(), &v1.Spec{Command: []string{"true"}})
	if err != nil || j.Submitter == nil || *j.Submitter != want {
		t.Errorf("by the socket: %+v, %v: want %+v", j.Submitter, err, want)
	}
	token, err := os.ReadFile(filepath.Join(dir, client.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	status, text := askWith(t, http.MethodPost, "http://"+tcp+"/v1/jobs",
		`{"id":"`+client.Draw()+`","spec":{"command":["true"]}}`,
		map[string]string{"Authorization": "Bearer " + strings.TrimSpace(string(token)), v1.UserHeader: "root-of-all"})
	if status != 200 || !strings.Contains(text, `"user":"`+me.Username+`"`) {
		t.Errorf("over TCP, with a user in the request: status %d, %s: want %s", status, text, me.Username)
	}
	if s := userName(4_000_000_001); s != "uid 4000000001" {
		t.Errorf("a user without a name is %q", s)
	}
}

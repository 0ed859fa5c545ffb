package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"skep/grid"
	"skep/node/api/client"
	"skep/node/api/v1"
)

// streamedSpec is the spec of a job whose task reads a stream.
func streamedSpec(access string) *v1.Spec {
	return &v1.Spec{Command: []string{"cat"}, TaskData: v1.TaskData{Stdin: &v1.Stdin{Stream: true}}, Access: access}
}

// submitStreamed submits such a job and returns its ID.
func submitStreamed(t *testing.T, c *client.Client, spec *v1.Spec) grid.JobID {
	t.Helper()
	j, err := c.Submit(t.Context(), client.Draw(), spec)
	if err != nil {
		t.Fatal(err)
	}
	id, err := grid.ParseJobID(j.ID)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// problemOf returns the status and the text of an error that the node stated.
func problemOf(err error) (status int, detail string) {
	var p *v1.Problem
	if errors.As(err, &p) {
		return p.Status, p.Detail
	}
	return 0, ""
}

func TestStdinIsReadAsFarAsTheTaskReads(t *testing.T) {
	f := newFake(t, 1, "alpha")
	c, _, _ := f.open(Options{})
	id := submitStreamed(t, c, streamedSpec(""))
	f.reads = 1000
	end, err := c.Stdin(t.Context(), id, strings.NewReader("a few words"))
	if want := (v1.StdinEnd{Read: 11, All: true}); err != nil || end != want {
		t.Errorf("%+v, %v: want %+v", end, err, want)
	}
	f.reads = 3
	r, w := io.Pipe() // an input without end
	defer w.Close()
	go w.Write([]byte("some words"))
	if end, err = c.Stdin(t.Context(), id, r); err != nil || end.All {
		t.Errorf("%+v, %v: want its end told", end, err)
	}
}

// What the node does not ask for is not read: it cannot be put back.
func TestStdinIsNotReadBeforeTheTaskReads(t *testing.T) {
	f := newFake(t, 1, "alpha")
	c, _, _ := f.open(Options{})
	in := strings.NewReader("words")
	if _, err := c.Stdin(t.Context(), submitStreamed(t, c, streamedSpec("")), in); err != nil || in.Len() != 5 {
		t.Errorf("%v, %d of 5 bytes left: want all", err, in.Len())
	}
}

func TestStdinIsForTheJobsOwnNodeAndHolder(t *testing.T) {
	f, g := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	f.connect(g)
	f.serve()
	g.serve()
	f.reads = 100
	c, _, _ := f.open(Options{})
	other, _, _ := g.open(Options{})
	id := submitStreamed(t, c, streamedSpec(""))
	_, err := other.Stdin(t.Context(), id, strings.NewReader("x"))
	if status, text := problemOf(err); status != http.StatusConflict || !strings.Contains(text, "was submitted to") {
		t.Errorf("through another node: %v", err)
	}
	kept := submitStreamed(t, c, &v1.Spec{Command: []string{"cat"}})
	_, err = c.Stdin(t.Context(), kept, strings.NewReader("x"))
	if status, text := problemOf(err); status != http.StatusConflict || !strings.Contains(text, "stdin.stream") {
		t.Errorf("of a job that reads none: %v", err)
	}
	owned := submitStreamed(t, c, streamedSpec("owner"))
	if end, err := c.Stdin(t.Context(), owned, strings.NewReader("x")); err != nil || !end.All {
		t.Errorf("with the capability: %+v, %v", end, err)
	}
	stranger, _, _ := f.open(Options{}) // the same node, and no capability
	_, err = stranger.Stdin(context.Background(), owned, strings.NewReader("x"))
	if status, _ := problemOf(err); status != http.StatusForbidden {
		t.Errorf("without the capability: %v: want it refused", err)
	}
}

// A spec is the same after it was through a node.
func TestSpecsKeepTheirStdin(t *testing.T) {
	blob := strings.Repeat("ab", 32)
	for _, in := range []*v1.Stdin{nil, {Stream: true}, {Blob: blob, Size: 7}} {
		s := v1.Spec{Command: []string{"cat"}, TaskData: v1.TaskData{Stdin: in}}
		g, err := s.Grid()
		if err == nil {
			err = g.Check()
		}
		if err != nil {
			t.Errorf("%+v: %v", in, err)
			continue
		}
		back := v1.SpecOf(g)
		if (in == nil) != (back.Stdin == nil) || in != nil && *in != *back.Stdin || len(back.Inputs) > 0 ||
			len(back.Needs.Labels) > 0 {
			t.Errorf("%+v came back as %+v, inputs %v, labels %v", in, back.Stdin, back.Inputs, back.Needs.Labels)
		}
	}
	for _, in := range []*v1.Stdin{{}, {Stream: true, Blob: blob}, {Blob: "x"}} {
		s := v1.Spec{Command: []string{"cat"}, TaskData: v1.TaskData{Stdin: in}}
		if _, err := s.Grid(); err == nil {
			t.Errorf("%+v: want an error", in)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skep/node/api/v1"
)

// slowAPI is a node's API that is slow to take a job, and interrupts its submitter.
type slowAPI struct {
	early  bool // interrupts at the first query for a blob, before anything is submitted
	fails  bool // answers that it could not take the job, and has it
	stays  bool // does not cancel it
	has    int  // has the job after so many queries; 0 = never
	mu     sync.Mutex
	asked  int
	posted bool
	looked chan struct{} // closed at the first query for the job
	gone   chan struct{} // closed when the job is cancelled
}

func (d *slowAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	interrupt := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }
	wait := func(until <-chan struct{}) {
		d.mu.Unlock()
		defer d.mu.Lock()
		select {
		case <-until:
		case <-r.Context().Done():
		}
	}
	job := v1.Job{ID: "aaaaaaaaaaaaaaaa-bbbb", Count: 1}
	switch id, cancel := strings.CutSuffix(r.URL.Path, "/cancel"); {
	case strings.HasPrefix(id, "/v1/blobs/"):
		if d.early {
			interrupt()
			wait(nil)
		}
	case r.Method == http.MethodPost && !cancel:
		d.posted = true
		interrupt()
		if d.fails {
			wait(d.looked)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if wait(d.gone); r.Context().Err() != nil {
			return
		}
		if r.URL.Query().Get("follow") == "" {
			_ = json.NewEncoder(w).Encode(job)
			return
		}
		f := v1.NewFrameWriter(w, http.NewResponseController(w).Flush)
		_ = f.Event(0, &v1.Event{Event: v1.EventSubmitted, Job: &job})
		_ = f.Event(0, &v1.Event{Event: v1.EventTask, Task: &v1.Task{Result: &v1.Result{Cause: "cancelled", Exit: 130}}})
		_ = f.Event(0, &v1.Event{Event: v1.EventEnd})
	case cancel:
		close(d.gone)
		if d.stays {
			w.WriteHeader(http.StatusConflict)
			return
		}
		_ = json.NewEncoder(w).Encode(job)
	default:
		if d.asked++; d.asked == 1 {
			close(d.looked)
		}
		if d.has == 0 || d.asked < d.has {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(job)
	}
}

func TestInterruptDuringSubmission(t *testing.T) {
	prog := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	findTimeout = 300 * time.Millisecond
	defer func() { findTimeout = 5 * time.Second }()
	for _, c := range []struct {
		name              string
		door              *slowAPI
		flag              string
		posted, cancelled bool
		says              string
	}{
		{"files are on their way", &slowAPI{early: true}, "--wait", false, false, "interrupted before the job was submitted"},
		{"the node has it", &slowAPI{has: 2}, "--wait", true, true, "cancelling the job"},
		{"the node has it, and nobody was to wait", &slowAPI{has: 2}, "--detach", true, true, "cancelling the job"},
		{"the node has it, and says that it may not", &slowAPI{has: 2, fails: true}, "--wait", true, true,
			"cancelling the job"},
		{"the node has it, and says that it may not, and nobody was to wait", &slowAPI{has: 2, fails: true}, "--detach", true,
			true, "Service Unavailable"},
		{"the node does not cancel it", &slowAPI{has: 2, stays: true}, "--detach", true, true,
			"ask again with: skep job cancel aaaaaaaaaaaaaaaa-bbbb\n"},
		{"the node does not say", &slowAPI{}, "--wait", true, false,
			"it may have been submitted: see skep job list, or end it with skep job cancel "},
		{"the node does not say, and nobody was to wait", &slowAPI{}, "--detach", true, false,
			"it may have been submitted: see skep job list, or end it with skep job cancel "},
	} {
		d := c.door
		d.gone, d.looked = make(chan struct{}), make(chan struct{})
		a := fakeAPI(t, d)
		var out, said bytes.Buffer
		a.out, a.err = &out, &said
		began := time.Now()
		code := a.main(context.Background(), []string{"run", "--data-dir", a.dataDir, c.flag, "--", prog})
		cancelled := false
		select {
		case <-d.gone:
			cancelled = true
		default:
		}
		if code != 130 || d.posted != c.posted || cancelled != c.cancelled || out.Len() > 0 ||
			!strings.Contains(said.String(), c.says) {
			t.Errorf("%s: exit %d, submitted %v, cancelled %v, printed %q and said %q: want 130, %v, %v, nothing, %q", c.name,
				code, d.posted, cancelled, &out, &said, c.posted, c.cancelled, c.says)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s: ended after %v", c.name, took)
		}
	}
}

// An interrupt between the node's answer and the printing of the ID comes too late: the run does not claim that the
// job is cancelled.
func TestInterruptAfterSubmission(t *testing.T) {
	var said bytes.Buffer
	r := &running{taskReporter: taskReporter{app: &app{err: &said}}}
	r.state.Store(answered)
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	r.onSignals(signals)
	if said.Len() > 0 || r.state.Load() != answered {
		t.Errorf("said %q, step %d: want nothing", &said, r.state.Load())
	}
}

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"skep/cmd/skep/arrays"
	"skep/node/api/client"
	"skep/node/api/v1"
)

func TestEachOutageHasItsOwnTimeout(t *testing.T) {
	at := time.Now()
	var o outage
	for i, step := range []struct {
		lasted, pause time.Duration // of the attempt, and until the next one
		first, long   bool
	}{
		{time.Hour, time.Second, true, false},
		{0, reconnectTimeout, false, false},
		{0, time.Second, false, true},
		{time.Hour, time.Second, true, false}, // it had come back
		{0, time.Second, false, false},
		{reconnectTimeout + time.Second, 0, true, false},
	} {
		end := at.Add(step.lasted)
		if first, long := o.record(at, end); first != step.first || long != step.long {
			t.Errorf("try %d: first %v, too long %v: want %v, %v", i, first, long, step.first, step.long)
		}
		at = end.Add(step.pause)
	}
}

func TestNonUTF8IsRejected(t *testing.T) {
	f := runFlags{needs: needFlags{cpu: "1", memory: "0"}, timeout: "0", count: 1, outputs: []string{"\xff*"}}
	f.environ.Names = []string{"A=\xe9"}
	_, _, err := f.spec([]string{"echo", "caf\xe9", "café"}, nil)
	if err == nil || strings.Count(err.Error(), "is not UTF-8") != 3 {
		t.Errorf("%v: want three words to be refused", err)
	}
}

// fakeAPI is the API socket of a node with a test's answers.
func fakeAPI(t *testing.T, h http.Handler) *app {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, client.TokenName), []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, client.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return &app{dataDir: dir, out: io.Discard, err: io.Discard}
}

func TestFailedDownloadDoesNotStopOthers(t *testing.T) {
	long := strings.Repeat("n", 255)
	sum := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	h := http.NewServeMux()
	say := func(w http.ResponseWriter, v any) { json.NewEncoder(w).Encode(v) }
	h.HandleFunc("/v1/jobs/{id}", func(w http.ResponseWriter, r *http.Request) { say(w, v1.Job{ID: "aaaa", Count: 2}) })
	h.HandleFunc("/v1/jobs/{id}/tasks", func(w http.ResponseWriter, r *http.Request) {
		say(w, v1.TaskPage{Job: "aaaa", Tasks: []v1.Task{
			{Index: 0, Result: &v1.Result{Outputs: []v1.File{{Path: "gone", Blob: sum("0"), Size: 1},
				{Path: "../out", Blob: sum("0"), Size: 1}, {Path: long, Blob: sum("0"), Size: 1}}}},
			{Index: 1, Result: &v1.Result{Outputs: []v1.File{{Path: "z", Blob: sum("1"), Size: 1}}}}}})
	})
	asked := 0
	h.HandleFunc("/v1/jobs/{id}/blobs/{blob}", func(w http.ResponseWriter, r *http.Request) {
		task := r.URL.Query().Get("task")
		if r.PathValue("blob") != sum(task) {
			t.Errorf("%v: want the task that left it", r.URL)
		}
		if asked++; asked == 1 {
			http.Error(w, "nobody has it", http.StatusNotFound)
			return
		}
		fmt.Fprint(w, task)
	})
	a := fakeAPI(t, h)
	c, err := a.client()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	dir := t.TempDir()
	n, err := a.fetch(context.Background(), c, "last", dir)
	if n != 2 || err == nil || !strings.Contains(err.Error(), "0/gone") || !strings.Contains(err.Error(), "not inside") {
		t.Errorf("%d files, %v: want two, and a word about each of the other two", n, err)
	}
	for _, name := range []string{filepath.Join("0", long), "1/z"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); string(b) != name[:1] {
			t.Errorf("%.20s: %q, %v", name, b, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".skep-part*")); left != nil {
		t.Errorf("%v is left", left)
	}
}

// skep run -- yes | head: the job is cancelled when its reader ends.
func TestClosedOutputCancelsJob(t *testing.T) {
	var cancelled atomic.Bool
	h := http.NewServeMux()
	h.HandleFunc("POST /v1/jobs", func(w http.ResponseWriter, r *http.Request) {
		f := v1.NewFrameWriter(w, http.NewResponseController(w).Flush)
		f.Event(0, &v1.Event{Event: v1.EventSubmitted, Job: &v1.Job{ID: "aaaa"}})
		f.Write(v1.FrameStdout, 0, bytes.Repeat([]byte("y\n"), 100))
		<-r.Context().Done()
	})
	h.HandleFunc("POST /v1/jobs/aaaa/cancel", func(w http.ResponseWriter, r *http.Request) {
		cancelled.Store(true)
		json.NewEncoder(w).Encode(v1.Job{ID: "aaaa"})
	})
	a := fakeAPI(t, h)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var said bytes.Buffer
	a.out, a.err = w, &said
	if code := a.main(context.Background(), []string{"run", "--data-dir", a.dataDir, "--", "yes"}); code != 141 ||
		!cancelled.Load() || said.Len() > 0 {
		t.Errorf("exit %d, cancelled %v, said %q: want 141 and the job cancelled, without a word", code, cancelled.Load(),
			said.String())
	}
}

// A node that has come back, and is too busy to answer, is asked again like one that is away.
func TestBusyNodeIsAskedAgain(t *testing.T) {
	asked := 0
	a := fakeAPI(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 2 {
			w.Header().Set("Content-Type", v1.ProblemType)
			w.WriteHeader(http.StatusServiceUnavailable)
			json.NewEncoder(w).Encode(v1.Problem{Status: http.StatusServiceUnavailable, Detail: "too busy"})
			return
		}
		f := v1.NewFrameWriter(w, http.NewResponseController(w).Flush)
		f.Event(0, &v1.Event{Event: v1.EventSubmitted, Job: &v1.Job{ID: "aaaa"}})
		if asked == 1 {
			panic(http.ErrAbortHandler)
		}
		f.Event(0, &v1.Event{Event: v1.EventTask, Task: &v1.Task{Result: &v1.Result{Exit: 7}}})
		f.Event(0, &v1.Event{Event: v1.EventEnd})
	}))
	var said bytes.Buffer
	a.err = &said
	code := a.main(context.Background(), []string{"run", "--data-dir", a.dataDir, "--", "true"})
	if code != 7 || asked != 3 {
		t.Errorf("exit %d after %d requests, %s: want the task's code after three", code, asked, said.String())
	}
}

func TestInputLinkToFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "deep", "x"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("data", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	files, err := input(&arrays.Input{Path: "link"}, dir)
	if err != nil || len(files) != 1 || files[0].to.Path != "link/deep/x" {
		t.Errorf("%+v, %v: want the file in it", files, err)
	}
}

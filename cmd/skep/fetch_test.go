package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"skep/node/api/client"
	"skep/node/api/v1"
)

// A file is written if its hash is right. Damaged bytes are requested once more, since the node that has them detects
// the damage too; then it is an error, and nothing is written.
func TestDamagedBytesAreNotWritten(t *testing.T) {
	right := strings.Repeat("0123456789", 20_000)
	wrong := right[:150_000] + "!" + right[150_001:]
	sum := sha256.Sum256([]byte(right))
	file := v1.File{Path: "out/data", Blob: hex.EncodeToString(sum[:]), Size: int64(len(right))}
	for name, c := range map[string]struct {
		answers []string // to consecutive requests, the last one to all further ones; truncated at a !
		asked   int
		good    bool
	}{
		"right":         {[]string{right}, 1, true},
		"wrong":         {[]string{wrong}, 2, false},
		"wrong once":    {[]string{wrong, right}, 2, true},
		"cut":           {[]string{right[:100_000] + "!"}, 2, false},
		"cut once":      {[]string{right[:100_000] + "!", right}, 2, true},
		"nobody has it": {[]string{""}, 1, false},
		"gone then":     {[]string{wrong, ""}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			answer := func(w http.ResponseWriter, v any) { json.NewEncoder(w).Encode(v) }
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.Contains(r.URL.Path, "/blobs/"):
					body := c.answers[min(asked, len(c.answers)-1)]
					if asked++; body == "" {
						w.WriteHeader(http.StatusNotFound)
						return
					}
					w.Header().Set("Content-Length", "200000")
					io.WriteString(w, strings.TrimSuffix(body, "!"))
				case strings.HasSuffix(r.URL.Path, "/tasks"):
					answer(w, v1.TaskPage{Job: "j", Tasks: []v1.Task{{Result: &v1.Result{Outputs: []v1.File{file}}}}})
				default:
					answer(w, v1.Job{ID: "j", Count: 1, Ended: 1})
				}
			}))
			defer srv.Close()
			r := client.Remote{Addr: srv.Listener.Addr().String(), Token: "token"}
			c2 := client.OpenRemote(r, t.TempDir())
			defer c2.Close()
			dir := t.TempDir()
			n, err := (&app{}).fetch(t.Context(), c2, "j", dir)
			got, rerr := os.ReadFile(filepath.Join(dir, "out", "data"))
			if c.good != (err == nil) || c.good != (n == 1) || asked != c.asked {
				t.Errorf("%d files, %v, asked %d times: want %d", n, err, asked, c.asked)
			}
			if c.good && string(got) != right || !c.good && !errors.Is(rerr, os.ErrNotExist) {
				t.Errorf("%d bytes were written, %v", len(got), rerr)
			}
			if left, _ := os.ReadDir(filepath.Join(dir, "out")); !c.good && len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// Two processes that download a job's files into one folder at once do not disturb each other: the result is complete
// and of one of them, and no other file is left.
func TestConcurrentDownloads(t *testing.T) {
	right := strings.Repeat("0123456789", 20_000)
	sum := sha256.Sum256([]byte(right))
	file := v1.File{Path: "data", Blob: hex.EncodeToString(sum[:]), Size: int64(len(right)), Exec: true}
	var second, first sync.WaitGroup // the first answer pauses halfway until the second process has ended
	second.Add(1)
	first.Add(1)
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			io.WriteString(w, strings.Repeat("x", 1000)) // truncated: leaves nothing
			return
		}
		io.WriteString(w, right[:100_000])
		w.(http.Flusher).Flush()
		first.Done()
		second.Wait()
		io.WriteString(w, right[100_000:])
	}))
	defer srv.Close()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	fetch := func() error {
		c := client.OpenRemote(client.Remote{Addr: srv.Listener.Addr().String(), Token: "token"}, t.TempDir())
		defer c.Close()
		return fetchFile(t.Context(), c, "j", root, "data", 0, file, io.Discard)
	}
	ends := make(chan error, 1)
	go func() { ends <- fetch() }()
	first.Wait()
	if err := fetch(); !errors.Is(err, errDamaged) {
		t.Errorf("the second: %v", err)
	}
	second.Done()
	if err := <-ends; err != nil {
		t.Errorf("the first: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "data")); string(got) != right {
		t.Errorf("%d bytes were written, %v: want what its hash says", len(got), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
}

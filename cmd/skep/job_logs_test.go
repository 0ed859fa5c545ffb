package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"skep/node/api/v1"
)

// The count of cancelled tasks is printed also when the node fails halfway.
func TestBrokenLogsReportCancelledCount(t *testing.T) {
	const cancelled, lost = 3, maxReported + 2
	h := http.NewServeMux()
	h.HandleFunc("/v1/jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(v1.Job{ID: "aaaa", Count: 100})
	})
	h.HandleFunc("/v1/jobs/{id}/logs", func(w http.ResponseWriter, r *http.Request) {
		var index int
		_, _ = fmt.Sscan(r.URL.Query().Get("task"), &index)
		task := &v1.Task{Index: uint32(index), Node: "bbbbbbbbbbbb", Name: "birch", Result: &v1.Result{Cause: "cancelled"}}
		switch {
		case index >= cancelled+lost:
			w.WriteHeader(http.StatusInternalServerError)
			return
		case index >= cancelled:
			task.Result.Cause = "lost"
		}
		_ = v1.NewFrameWriter(w, http.NewResponseController(w).Flush).Event(task.Index,
			&v1.Event{Event: v1.EventTask, Task: task})
	})
	a := fakeAPI(t, h)
	var said bytes.Buffer
	a.err = &said
	code := a.main(context.Background(), []string{"job", "logs", "--data-dir", a.dataDir, "aaaa"})
	for _, want := range []string{"task 0: cancelled\n", "task 3: lost; its node was birch (bbbbbbbb)\n",
		"and 2 more tasks were cancelled\n", "and that of 2 more tasks\n"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("said nothing of %q", want)
		}
	}
	if code != 125 || t.Failed() {
		t.Errorf("exit %d, said %s: want 125", code, &said)
	}
}

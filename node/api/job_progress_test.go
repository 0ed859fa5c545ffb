package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// Who follows a job hears how many tasks are how far, and what its one task says of itself, if that was asked for.
func TestFollowedJobSaysItsProgress(t *testing.T) {
	defer func(d time.Duration) { progressInterval = d }(progressInterval)
	progressInterval = time.Millisecond
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	resp, err := http.Post(url+"/v1/jobs?follow=true&progress=true", "application/json",
		strings.NewReader(`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["true"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	frames := v1.NewFrameReader(resp.Body)
	next := func() (e v1.Event) {
		x, err := frames.Next()
		if err == nil {
			err = json.Unmarshal(x.Data, &e)
		}
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	runs, said := false, false
	for !said {
		e := next()
		if e.Event != v1.EventProgress {
			continue
		}
		if e.Job == nil || e.Task == nil {
			t.Fatalf("%+v: want the job and its task", e)
		}
		if p := e.Task.Progress; e.Job.Running == 1 && !runs {
			runs = true
			f.mu.Lock()
			id := f.runs[0]
			f.mu.Unlock()
			f.step(grid.Event{Kind: grid.EvProgress, Attempt: id,
				OfAttempt: grid.OfAttempt{Progress: &grid.Progress{Done: 3, Total: 10, Text: "x"}}})
		} else if p != nil {
			said = true
			if *p != (v1.Progress{Done: 3, Total: 10, Text: "x"}) || e.Task.Phase != v1.PhaseRunning {
				t.Errorf("%+v, %s: want what the task has said, and that it runs", p, e.Task.Phase)
			}
		}
	}
	f.end(&grid.Result{Cause: grid.Exited})
	last := ""
	for last != v1.EventEnd {
		last = next().Event
	}
	job := get[v1.Job](t, http.MethodGet, url+"/v1/jobs/bcde", "")
	if job.Queued+job.Running+job.Placed != 0 {
		t.Errorf("of a job that is over %d queue and %d run", job.Queued, job.Running)
	}
}

package main

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	v1 "skep/node/api/v1"
)

// noneIdle checks a job's JSON description on standard output: so many nodes ran tasks of it, and none ran nothing for
// so long while a task that began later waited: noneidle NODES TIME.
func noneIdle(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: noneidle NODES TIME")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	most, err := time.ParseDuration(args[1])
	ts.Check(err)
	var job struct {
		Tasks []v1.Task `json:"tasks"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &job))
	var first, last time.Time
	ran := map[string][]v1.Task{}
	for _, t := range job.Tasks {
		if t.Began == nil || t.Done == nil || t.Result == nil || t.Result.Exit != 0 {
			ts.Fatalf("task %d did not run to its end: %+v", t.Index, t)
		}
		if first.IsZero() || t.Began.Before(first) {
			first = *t.Began
		}
		if t.Began.After(last) {
			last = *t.Began
		}
		ran[t.Name] = append(ran[t.Name], t)
	}
	if len(ran) != want {
		ts.Fatalf("%d nodes ran tasks, want %d", len(ran), want)
	}
	for name, tasks := range ran {
		if idle := longestIdle(tasks, first, last); idle > most {
			ts.Fatalf("%s ran %d tasks, and nothing for %v while others waited", name, len(tasks), idle)
		}
	}
}

// longestIdle returns for how long at most none of some tasks ran between two times.
func longestIdle(tasks []v1.Task, from, to time.Time) (longest time.Duration) {
	for at := from; at.Before(to); {
		next, busy := to, false
		for _, t := range tasks {
			if !t.Began.After(at) && t.Done.After(at) { // busy until then
				at, busy = *t.Done, true
			} else if t.Began.After(at) && t.Began.Before(next) {
				next = *t.Began
			}
		}
		if !busy {
			longest, at = max(longest, next.Sub(at)), next
		}
	}
	return longest
}

package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/node/api/v1"
)

func TestSubmitTwiceIsOneJob(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	a := submit(t, url, "bcde", "")
	b := submit(t, url, "bcde", "")
	if a.ID != b.ID || len(f.runs) != 1 {
		t.Errorf("jobs %s and %s, %d tasks started: want the same job and one task", a.ID, b.ID, len(f.runs))
	}
	if p := get[v1.JobPage](t, "GET", url+"/v1/jobs", ""); len(p.Jobs) != 1 {
		t.Errorf("%d jobs are listed: want 1", len(p.Jobs))
	}
	other := `{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["true"],"count":2}}`
	if status, text := ask(t, "POST", url+"/v1/jobs", other); status != http.StatusConflict ||
		!strings.Contains(text, "was submitted before with another specification") {
		t.Errorf("another spec under the same ID: %d, %s", status, text)
	}
	if j := get[v1.Job](t, "GET", url+"/v1/jobs/"+a.ID, ""); j.Count != 1 {
		t.Errorf("the job has become one of %d tasks", j.Count)
	}
}

func TestSubmitReportsAllErrors(t *testing.T) {
	url := newFake(t, 1, "alpha").serve().URL
	for body, wants := range map[string][]string{
		`{"id":"x","spec":{"command":["true"]}}`: {"job ID"},
		`{"id":"bcdeaaaaaaaaaaaa-` + (grid.NodeID{9}).String() +
			`","spec":{"command":["true"]}}`: {"submitted to the node that its ID names"},
		`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":[],"needs":{"cpus":-1},"timeout_seconds":-3}}`:              {"command: is empty", "needs.cpu", "timeout"},
		`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["a"],"colour":"red"}}`:                                     {"unexpected property", "colour"},
		`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["a"],"inputs":[{"path":"a","blob":"12","size_bytes":1}]}}`: {"64 hexadecimal digits"},
		`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["a"],"inputs":[{"path":"a","blob":"` + strings.Repeat("1", 64) +
			`","size_bytes":1}]}}`: {"is not here"},
	} {
		status, text := ask(t, "POST", url+"/v1/jobs", body)
		if status != http.StatusUnprocessableEntity {
			t.Errorf("%s: status %d: want 422: %s", body, status, text)
		}
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s: want %q in it", body, text, want)
			}
		}
	}
}

func TestListInPages(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	for i := range 5 {
		submit(t, url, "bcd"+string(rune('a'+i)), "")
	}
	var ids []string
	after := ""
	for pages := 0; pages < 9; pages++ {
		p := get[v1.JobPage](t, "GET", url+"/v1/jobs?limit=2&after="+after, "")
		for _, j := range p.Jobs {
			ids = append(ids, j.ID[:4])
		}
		if after = p.Next; after == "" {
			break
		}
	}
	if got := strings.Join(ids, " "); got != "bcde bcdd bcdc bcdb bcda" {
		t.Errorf("jobs come as %s: want the newest first, each once", got)
	}
	f.end(&grid.Result{Cause: grid.Exited, Exit: 2})
	if p := get[v1.JobPage](t, "GET", url+"/v1/jobs?state=failed", ""); len(p.Jobs) != 1 || p.Jobs[0].Exit != 2 {
		t.Errorf("failed jobs: %+v: want the one that exited with 2", p.Jobs)
	}
}

func TestListIsFiltered(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	for i, name := range []string{"train-a", "train-b", "eval"} {
		submit(t, url, "bcd"+string(rune('a'+i)), fmt.Sprintf(`,"name":%q`, name))
	}
	f.end(&grid.Result{Cause: grid.Exited, Exit: 2})
	f.end(&grid.Result{Cause: grid.Exited})
	for query, want := range map[string]string{
		"":                           "eval train-b train-a",
		"name=train-*":               "train-b train-a",
		"name=train-*&state=failed":  "train-a",
		"state=done,failed":          "train-b train-a",
		"state=running,pending":      "eval",
		"since=2023-11-14T22:13:20Z": "eval train-b train-a",
		"since=2099-01-01T00:00:00Z": "",
		"name=eval&limit=1":          "eval",
	} {
		for _, scope := range []string{"here", "grid"} {
			p := get[v1.JobPage](t, "GET", url+"/v1/jobs?scope="+scope+"&"+query, "")
			var names []string
			for _, j := range p.Jobs {
				names = append(names, j.Name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s of %s: %s: want %s", query, scope, got, want)
			}
		}
	}
	for query, want := range map[string]string{
		"state=lost":                 `state \"lost\": want one or more of pending, running, done, failed, cancelled`,
		"name=%5Ba":                  `name pattern \"[a\": want a shell pattern`,
		"since=yesterday":            `since \"yesterday\": want a time`,
		"scope=moon":                 "scope",
		"limit=1001":                 "limit",
		"scope=grid&after=" + "bcde": "after: pages are of this node's own jobs",
	} {
		if status, text := ask(t, "GET", url+"/v1/jobs?"+query, ""); status != 422 || !strings.Contains(text, want) {
			t.Errorf("%s: %d, %s: want %q", query, status, text, want)
		}
	}
}

// The jobs of the grid as every member may see them; of those that are known here, what the caller may.
func TestListOfTheGrid(t *testing.T) {
	a, b := newFake(t, 1, "alpha"), newFake(t, 2, "beta")
	a.connect(b)
	at, to := a.serve().URL, b.serve().URL
	submit(t, at, "bcde", `,"name":"here"`)
	far := submit(t, to, "xyza", `,"name":"there","env":{"TOKEN":"hunter2"}`)
	a.silent = []grid.NodeID{{9}}
	_, text := ask(t, "GET", at+"/v1/jobs?scope=grid", "")
	if strings.Contains(text, "hunter2") {
		t.Errorf("%s: want no environment", text)
	}
	p := get[v1.JobPage](t, "GET", at+"/v1/jobs?scope=grid", "")
	if len(p.Jobs) != 2 || p.Asked != 1 || len(p.Silent) != 1 || p.Silent[0] != (grid.NodeID{9}).String() {
		t.Fatalf("%+v: want two jobs, of two nodes, and who did not answer", p)
	}
	for _, j := range p.Jobs {
		switch j.ID {
		case far.ID:
			if j.Name != "there" || j.OriginName != "beta" || j.ToldBy != b.self.String() || len(j.Command) != 0 ||
				j.Spec != nil || j.State != v1.JobRunning {
				t.Errorf("%+v: want what every member may see, without the command", j)
			}
		default:
			if j.Name != "here" || j.ToldBy != "" || len(j.Command) != 1 {
				t.Errorf("%+v: want the job of this node, with its command", j)
			}
		}
	}
	p = get[v1.JobPage](t, "GET", at+"/v1/jobs?scope=grid&mine=true", "")
	if len(p.Jobs) != 1 || p.Jobs[0].Name != "here" {
		t.Errorf("%+v: want the job that the caller submitted here", p.Jobs)
	}
	if p := get[v1.JobPage](t, "GET", at+"/v1/jobs", ""); len(p.Jobs) != 1 || p.Asked != 0 {
		t.Errorf("%+v: want the jobs of this node alone, where nothing else is said", p)
	}
}

func TestWaitReturnsWhenTheJobIsOver(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	j := submit(t, url, "bcde", "")
	if k := get[v1.Job](t, "GET", url+"/v1/jobs/"+j.ID+"/wait?timeout=0", ""); k.Over() {
		t.Errorf("job is %s: want it to run", k.State)
	}
	go func() {
		time.Sleep(10 * time.Millisecond)
		f.end(&grid.Result{Cause: grid.Exited})
	}()
	if k := get[v1.Job](t, "GET", url+"/v1/jobs/last/wait", ""); k.State != v1.JobDone {
		t.Errorf("job is %s: want it done", k.State)
	}
}

func TestCancelEndsTheJob(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	submit(t, url, "bcde", "")
	get[v1.Job](t, "POST", url+"/v1/jobs/bcde/cancel", "")
	f.end(&grid.Result{Cause: grid.Cancelled, Exit: 130})
	if j := get[v1.Job](t, "GET", url+"/v1/jobs/bcde", ""); j.State != v1.JobCancelled || !j.Over() {
		t.Errorf("job is %s: want it cancelled and over", j.State)
	}
}

func TestExplainNamesEachNode(t *testing.T) {
	f := newFake(t, 1, "alpha")
	f.connect(newFake(t, 2, "beta"))
	url := f.serve().URL
	submit(t, url, "bcde", `,"needs":{"cpus":3,"labels":{"os":["linux"]}}`)
	e := get[v1.Explanation](t, "GET", url+"/v1/jobs/bcde/explain", "")
	if len(e.Tasks) != 1 || len(e.Tasks[0].Steps) == 0 {
		t.Fatalf("explanation %+v: want one task with its steps", e)
	}
	got := map[string]string{}
	for _, n := range e.Nodes {
		got[n.Name] = fmt.Sprint(n.Fits, n.Reason)
	}
	if got["alpha"] != "true" || !strings.HasPrefix(got["beta"], "false") || !strings.Contains(got["beta"], "CPU") {
		t.Errorf("nodes %v: want alpha to fit and beta to have too little CPU", got)
	}
}

func TestTasksOfALargeJobComeInPages(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	submit(t, url, "bcde", `,"count":7`)
	var got []uint32
	for from := uint32(0); ; {
		p := get[v1.TaskPage](t, "GET", fmt.Sprintf("%s/v1/jobs/bcde/tasks?from=%d&limit=3", url, from), "")
		for _, task := range p.Tasks {
			got = append(got, task.Index)
		}
		if p.Next == nil {
			break
		}
		from = *p.Next
	}
	if fmt.Sprint(got) != "[0 1 2 3 4 5 6]" {
		t.Errorf("tasks %v: want 0 to 6, each once", got)
	}
}

// events reads a stream of frames to its end.
func events(t *testing.T, body string) (out [3]string, events []string) {
	t.Helper()
	r := v1.NewFrameReader(strings.NewReader(body))
	for {
		f, err := r.Next()
		if err != nil {
			return out, events
		}
		switch f.Kind {
		case v1.FrameEvent:
			e, _, _ := strings.Cut(string(f.Data)[len(`{"event":"`):], `"`)
			events = append(events, e)
		default:
			out[f.Kind] += string(bytes.Clone(f.Data))
		}
	}
}

func TestFollowToTheEnd(t *testing.T) {
	f := newFake(t, 1, "alpha")
	url := f.serve().URL
	go func() {
		for {
			f.mu.Lock()
			n := len(f.runs)
			f.mu.Unlock()
			if n > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		f.end(&grid.Result{Cause: grid.Exited, Exit: 3, Stdout: grid.Output{Inline: []byte("hi\n"), Size: 3},
			Stderr: grid.Output{Inline: []byte("oh\n"), Size: 3}})
	}()
	_, body := ask(t, "POST", url+"/v1/jobs?follow=true", `{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["true"]}}`)
	out, evs := events(t, body)
	if out[v1.FrameStdout] != "hi\n" || out[v1.FrameStderr] != "oh\n" {
		t.Errorf("output %q: want hi and oh", out)
	}
	if got := strings.Join(evs, " "); got != "submitted task end" {
		t.Errorf("events %s: want submitted task end", got)
	}
	if !strings.Contains(body, `"exit_code":3`) {
		t.Error("the end does not say the exit code 3")
	}
}

func TestFollowStreamsWhileTheTaskRuns(t *testing.T) {
	f := newFake(t, 1, "alpha")
	f.print = [2]string{"early ", ""}
	url := f.serve().URL
	go func() {
		time.Sleep(4 * streamDelay)
		f.end(&grid.Result{Cause: grid.Exited, Stdout: grid.Output{Inline: []byte("early late"), Size: 10}})
	}()
	_, body := ask(t, "POST", url+"/v1/jobs?follow=true", `{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["true"]}}`)
	if out, _ := events(t, body); out[v1.FrameStdout] != "early late" {
		t.Errorf("output %q: want what was printed early once, and the rest", out[v1.FrameStdout])
	}
}

func TestWhyUnplaceable(t *testing.T) {
	url := newFake(t, 1, "alpha").serve().URL
	_, body := ask(t, "POST", url+"/v1/jobs?follow=true",
		`{"id":"bcdeaaaaaaaaaaaa","spec":{"command":["true"],"needs":{"labels":{"zone":["b"]}}}}`)
	if !strings.Contains(body, `"exit_code":121`) || !strings.Contains(body, "needs zone=b") {
		t.Errorf("%q: want exit code 121 and the node's reason", body)
	}
}

func TestLogs(t *testing.T) {
	f := newFake(t, 1, "alpha")
	f.print = [2]string{"out", "err"}
	url := f.serve().URL
	submit(t, url, "bcde", "")
	if _, text := ask(t, "GET", url+"/v1/jobs/bcde/logs?stream=stderr&offset=1", ""); text != "rr" {
		t.Errorf("stderr from 1 on is %q: want rr", text)
	}
	_, body := ask(t, "GET", url+"/v1/jobs/bcde/logs", "")
	if out, evs := events(t, body); out[1] != "out" || out[2] != "err" || strings.Join(evs, " ") != "task" {
		t.Errorf("logs %q, events %v: want both streams and the task", out, evs)
	}
	f.mute = errors.New("which node has it is not known")
	if _, body := ask(t, "GET", url+"/v1/jobs/bcde/logs", ""); !strings.Contains(body,
		"task 0: its output cannot be had now: which node has it is not known") {
		t.Errorf("where no node can be named: %q: want the task and why", body)
	}
	other := newFake(t, 2, "beta")
	f.connect(other)
	f.mute = &grid.NodeError{Node: other.self, Err: errors.New("gone")} // the task runs at alpha meanwhile
	if _, body := ask(t, "GET", url+"/v1/jobs/bcde/logs", ""); !strings.Contains(body,
		"task 0: its output cannot be had now from node beta ("+other.self.Short()+"): gone") {
		t.Errorf("of a task that has moved: %q: want the node that was asked", body)
	}
	f.mute = &grid.NodeError{Node: f.self, Err: errors.New("connection refused")}
	if _, body := ask(t, "GET", url+"/v1/jobs/bcde/logs", ""); !strings.Contains(body,
		"task 0: its output cannot be had now from node alpha ("+f.self.Short()+"): connection refused") {
		t.Errorf("of a node that cannot be asked: %q: want the task, the node and why", body)
	}
	f.print = [2]string{}
	if status, text := ask(t, "GET", url+"/v1/jobs/bcde/logs?stream=stdout", ""); status != http.StatusBadGateway ||
		!strings.Contains(text, "from node alpha") {
		t.Errorf("of a node that cannot be asked: status %d, %q: want 502 and the node", status, text)
	}
	if status, _ := ask(t, "GET", url+"/v1/jobs/bcde/logs?task=1", ""); status != http.StatusNotFound {
		t.Errorf("logs of a task that is not: status %d: want 404", status)
	}
}

package progress

import (
	"testing"
	"time"

	v1 "skep/node/api/v1"
)

func TestOfJob(t *testing.T) {
	job := func(count, pending, queued, running, ended, failed int) *v1.Job {
		return &v1.Job{ID: "abcdefghijkl", Count: count, Placed: queued + running, Ended: ended,
			JobTasks:    v1.JobTasks{Pending: pending, Queued: queued, Running: running},
			JobFailures: v1.JobFailures{Failed: failed}}
	}
	task := func(phase string, p *v1.Progress) *v1.Task { return &v1.Task{Phase: phase, Name: "birch", Progress: p} }
	old := job(9, 2, 0, 0, 3, 0)
	old.Placed = 4
	for _, c := range []struct {
		what string
		job  *v1.Job
		task *v1.Task
		want string // "" = nothing is shown
	}{
		{"many tasks", job(100, 40, 6, 4, 50, 2), nil, "50 of 100, 4 running, 46 waiting, 2 failed, 9s left"},
		{"of a node that does not tell them apart", old, nil, "3 of 9, 4 running, 2 waiting, 9s left"},
		{"one that has no node", job(1, 1, 0, 0, 0, 0), nil, "waits for a node"},
		{"one that waits at its node", job(1, 0, 1, 0, 0, 0), task(v1.PhaseQueued, nil), "waits at birch"},
		{"one that runs and says nothing", job(1, 0, 0, 1, 0, 0), task(v1.PhaseRunning, nil), ""},
		{"one that says rubbish", job(1, 0, 0, 1, 0, 0), task(v1.PhaseRunning, &v1.Progress{Rejected: 3}), ""},
		{"one that says something", job(1, 0, 0, 1, 0, 0),
			task(v1.PhaseRunning, &v1.Progress{Done: 2.5, Total: 10, Text: "files"}), "2.5 of 10, 9s left, files"},
		{"one that knows no total", job(1, 0, 0, 1, 0, 0),
			task(v1.PhaseRunning, &v1.Progress{Done: 7, Text: "a\x1b[2Jb"}), "7, a?[2Jb"},
		{"one that is over", job(1, 0, 0, 0, 1, 0), nil, ""},
		{"one of which nothing is known", job(1, 0, 0, 1, 0, 0), nil, ""},
	} {
		s := OfJob(c.job, c.task)
		left := time.Duration(0)
		if _, known := s.share(); known {
			left = 9 * time.Second
		}
		got := s.line(left, 200)
		if s.What != "job abcdefgh" || s.Idle != (c.want == "") || !s.Idle && got != c.want {
			t.Errorf("%s: idle %v, %q %q: want %q", c.what, s.Idle, s.What, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for want, p := range map[string]v1.Progress{
		"3 of 10 (30 %), half way": {Done: 3, Total: 10, Text: "half way"},
		"12 of 10 (100 %)":         {Done: 12, Total: 10},
		"7, files":                 {Done: 7, Text: "files"},
		"1 of 2 (50 %), 1 line of $SKEP_PROGRESS not understood": {Done: 1, Total: 2, Rejected: 1},
		"2 lines of $SKEP_PROGRESS not understood":               {Rejected: 2},
	} {
		if got := Text(&p); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}

// The end is estimated from what was done since the work is watched, and anew when there is other work.
func TestEstimate(t *testing.T) {
	var e estimate
	now := time.Now()
	e.note(now, "upload", 0.5)
	if left := e.left(now.Add(time.Minute)); left != 0 {
		t.Errorf("nothing was done since: %v left", left)
	}
	e.note(now.Add(10*time.Second), "upload", 0.75)
	if left := e.left(now.Add(10 * time.Second)); left != 10*time.Second {
		t.Errorf("%v left: want as long as the last quarter took", left)
	}
	if left := e.left(now.Add(time.Second)); left != 0 {
		t.Errorf("after a second: %v left, want that nothing is said", left)
	}
	e.note(now.Add(20*time.Second), "job", 0.8)
	if left := e.left(now.Add(21 * time.Second)); left != 0 {
		t.Errorf("of other work: %v left", left)
	}
}

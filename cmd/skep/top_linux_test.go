package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"skep/internal/screen"
)

func TestTopInATerminal(t *testing.T) {
	t.Parallel()
	skep := buildSkep(t)
	m := startMember(t, skep, "", "--name", "alpha")
	m.run(t, "", "run", "--name", "short", "--", "echo", "done at once")
	m.run(t, "", "run", "--name", "long", "--detach", "--", "sh", "-c", "echo it has begun; sleep 300")
	x := m.startAt(screen.Open(t, screen.Options{Whole: true}), "top")
	x.Shows("at alpha: 1 nodes", "NODES", "CPUS FREE", "JOBS", " long ", " running ", " short ", " done ", "q quit")
	for _, line := range strings.Split(x.Text(), "\n") {
		if n := len([]rune(strings.TrimRight(line, " "))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}

	// A second costs few bytes: what has not changed is not written again.
	from, clock := len(x.Written()), x.Text()[:len("skep top 12:00:00")]
	for range 3 {
		was := clock
		until(t, "a second passes", func() bool { clock = x.Text()[:len(was)]; return clock != was })
	}
	if more := x.Written()[from:]; len(more) > 2000 || bytes.Contains(more, []byte("\x1b[2J")) {
		t.Errorf("%d bytes in 3 seconds, %q…: want only what has changed", len(more), more[:min(len(more), 200)])
	}

	x.Type("l")
	x.Shows("output of task 0 of job", "it has begun")
	x.Type("q")
	x.Shows("JOBS")
	x.Type("e")
	x.Shows("explanation of job", "chose alpha")
	x.Type("q")

	x.Resize(110, 30)
	x.Shows("TAKES NO WORK") // a column for which 80 have no room

	x.Type("c")
	x.Shows("cancel job", "(0 of 1 tasks ended)?", "long")
	x.Type("n")
	x.Shows("not cancelled", " running ")
	x.Type("c")
	x.Shows("cancel job")
	x.Type("y")
	x.Shows(" cancelled ")

	m.kill()
	x.Shows("the node does not answer, what is shown is", " cancelled ")
	m.start(t)
	until(t, "the node answers again", func() bool { return strings.Contains(x.Text(), "at alpha") })

	x.Type("q")
	if status := x.End(); status != 0 {
		t.Errorf("top ends with %v", status)
	}
}

// An interrupt leaves the terminal as it was.
func TestTopInterrupted(t *testing.T) {
	t.Parallel()
	skep := buildSkep(t)
	m := startMember(t, skep, "", "--name", "alpha")
	x := m.startAt(screen.Open(t, screen.Options{Whole: true}), "top")
	x.Shows("at alpha")
	x.Signal(syscall.SIGTERM)
	x.End()
}

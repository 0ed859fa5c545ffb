package coordinator_test

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A suspended task moves, and a node is killed at every point from before its owner hears that it is suspended until
// its next attempt runs: the owner for good, or the worker that gives it up, or the one where it goes on, for a
// minute. Before that it never runs at two nodes; in the end it runs at one, from the checkpoint, and its end is
// recorded.
func TestMigrationsOutliveAKillAtEveryPoint(t *testing.T) {
	for _, victim := range []string{"a", "b", "c"} {
		point, moved, kept := killAtEveryPoint(t, victim, killInMigration)
		if point < 15 || moved == 0 || kept == 0 {
			t.Errorf("%s killed at %d points, moved in %d runs and not in %d: want many, and both", victim, point-1, moved, kept)
		}
	}
}

// killInMigration has a task move from c to b, kills a node after so many events, and reports whether the task has
// moved; killed = there were so many events.
func killInMigration(t *testing.T, victim string, point int) (moved, killed bool) {
	w := newNetwork()
	do := w.must(t)
	do("start a b c d migrate=2 members=3", "submit a job0 on=b", "run", "advance 100s", "end b job0/0 exit 0", "run",
		"submit a job9 on=c", "run", "advance 100s", "end c job9/0 exit 0", "run", "advance 10s",
		"submit a job1 on=b,c retries=9", "run", "advance 40s")
	from, other := placeOf(w), "b"
	if from == "" {
		t.Fatal("it does not run")
	}
	if from == "b" {
		other = "c"
	}
	do("close "+from+" job1/0 40", "run", "advance 5s", "submit a job2 on="+from+" bid=9 retries=9", "run")
	w.events = 0
	began := w.out.Len()
	for events := 0; w.now < clockStart.Add(400*time.Second); {
		if events == point && !killed {
			w.kill(w.member(victim), false)
			killed = true
		}
		if placeOf(w) == other {
			break
		}
		if w.queue[0].ev.Kind != grid.EvWake {
			events++
		}
		w.next()
		if n := countOf(w); n > 1 && !killed {
			t.Fatalf("it runs at %d nodes", n)
		}
	}
	moved = strings.Contains(w.out.String()[began:], "moved 1 after its start")
	w.events = 0
	w.advance(time.Minute)
	for _, name := range []string{"b", "c"} {
		if m := w.member(name); m.n == nil {
			if err := w.doAt(m, "restart", nil, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.events = 0
	w.advance(2 * time.Minute)
	for _, m := range w.nodes { // it may wait behind the one that had it suspended
		for i := range m.running {
			if w.job(m.running[i].Attempt.Task.Job) == "job2" {
				do("end " + m.name + " job2/0 exit 0")
				break
			}
		}
	}
	w.events = 0
	w.advance(30 * time.Second)
	if n := countOf(w); n != 1 {
		t.Fatalf("it runs at %d nodes\n%s", n, w.out.String()[began:])
	}
	if strings.Contains(w.out.String(), "moved 2 after") {
		t.Error("it has moved twice")
	}
	m := w.member(placeOf(w))
	for i := range m.running {
		if s := &m.running[i]; w.job(s.Attempt.Task.Job) == "job1" && s.Attempt.Attempt != (grid.Attempt{Epoch: 1, N: 1}) {
			if from := wholeCheckpoint1(s); from != "40" {
				t.Errorf("%v begins from %q", s.Attempt.Attempt, from)
			}
		}
	}
	do("end "+m.name+" job1/0 exit 0", "run")
	w.events = 0
	w.advance(20 * time.Second)
	if !strings.Contains(w.out.String(), "saves task job1/0#") || !strings.Contains(w.out.String(), " ended exit 0") {
		t.Error("its end is not recorded")
	}
	return moved, killed
}

// A task that moves has a process which takes a minute to end, and its owner dies: no next attempt begins before.
func TestMigrationsAwaitTheEndOfTheProcess(t *testing.T) {
	for _, nodes := range []string{"a b c d e f g", "a b c x y z", "a b c x y z m n o p q r"} {
		t.Run(nodes, func(t *testing.T) { killOwnerInMigration(t, nodes) })
	}
}

func killOwnerInMigration(t *testing.T, nodes string) {
	w := newNetwork()
	do := w.must(t)
	do("start "+nodes+" migrate=2 members=3", "submit a job0 on=b", "run", "advance 100s", "end b job0/0 exit 0", "run",
		"submit a job9 on=c", "run", "advance 100s", "end c job9/0 exit 0", "run", "advance 10s",
		"submit a job1 on=b,c retries=9", "run", "advance 42s")
	from := placeOf(w)
	do("close "+from+" job1/0 40", "run", "advance 5s", "submit a job2 on="+from+" bid=9 retries=9", "run")
	w.stop.takes = time.Minute
	began := w.out.Len()
	for k := 0; k < 10000 && !strings.Contains(w.out.String()[began:], "handed back"); k++ {
		w.events = 0
		w.next()
	}
	w.kill(w.member("a"), false)
	for end := w.now.Add(w.stop.takes); w.now < end; {
		if n := countOf(w); n > 0 {
			t.Fatalf("the next attempt runs at %s beside the process at %s\n%s", placeOf(w), from, w.out.String()[began:])
		}
		w.events = 0
		w.next()
	}
}

// A task is asked to move whose start is released only then, too late: its owner hears that it was given up.
func TestMigrationsOfWhatNeverStarted(t *testing.T) {
	w := newNetwork()
	do := w.must(t)
	do("start a c migrate=2", "submit a job0 on=a", "run", "advance 100s", "end a job0/0 exit 0", "run",
		"submit a job9 on=c", "run", "advance 100s", "end c job9/0 exit 0", "run", "submit a job8 on=c bid=9", "run",
		"submit a job1 on=a,c", "run", "advance 20s", "close a job1/0 20", "run", "end c job8/0 exit 0", "run", "advance 6s")
	w.stop.late = true
	began := w.out.Len()
	do("submit a job2 on=a bid=9", "run", "advance 60s")
	if out := w.out.String()[began:]; !strings.Contains(out, "handed back") || placeOf(w) != "c" {
		t.Errorf("it runs at %q\n%s", placeOf(w), out)
	}
}

// countOf is at how many nodes the task of job1 runs.
func countOf(w *network) (n int) {
	for _, m := range w.nodes {
		for i := range m.running {
			if m.n != nil && w.job(m.running[i].Attempt.Task.Job) == "job1" {
				n++
			}
		}
	}
	return n
}

// placeOf is the newest node at which the task of job1 runs; "" = none.
func placeOf(w *network) (at string) {
	var newest grid.Attempt
	for _, m := range w.nodes {
		for i := range m.running {
			if a := m.running[i].Attempt; m.n != nil && w.job(a.Task.Job) == "job1" && newest.Less(a.Attempt) {
				at, newest = m.name, a.Attempt
			}
		}
	}
	return at
}

// wholeCheckpoint1 is the checkpoint that an attempt of a task alone begins from; "" = none.
func wholeCheckpoint1(s *grid.Start) string {
	for _, f := range s.Inputs {
		if isCheckpointInput(f) {
			return strings.Split(f.Path, "/")[1]
		}
	}
	return ""
}

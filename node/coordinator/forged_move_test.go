package coordinator_test

import (
	"testing"
	"time"

	"skep/grid"
)

// A holder that says unasked that it gave a task up to move has lost it, if the task has no checkpoint: each time costs
// one of its retries.
func TestForgedMovesAreLosses(t *testing.T) {
	w := newNetwork()
	do := w.must(t)
	do("start a b", "submit a job1 on=b count=1 retries=1", "run")
	a, b := w.member("a"), w.member("b")
	for range 4 {
		w.events = 0
		w.advance(20 * time.Second)
		if len(b.running) == 0 {
			break
		}
		m := &grid.Message{Kind: grid.KindRefuse, Attempts: []grid.AttemptID{b.running[0].Attempt},
			Refusal: grid.Refusal{Why: grid.WhyMoved}}
		w.post(&due{at: w.now.Add(oneWay), from: b, to: a, boot: a.cfg.Boot,
			ev: grid.Event{Kind: grid.EvMessage, Peer: b.cfg.Self, Msg: m}})
		do("run")
	}
	jobs := a.n.Jobs(nil)
	if len(jobs) != 1 || jobs[0].Ended != 1 {
		t.Errorf("%+v: want that the task is lost after two attempts", jobs)
	}
}

// A node becomes idle where a suspended task is to go on, and gets a backup attempt of it before the old attempt's
// worker has given that up. The backup attempt is the only one then: nothing is lost, and the worker is not to blame.
func TestMoveThatMeetsABackupAttemptIsNoLoss(t *testing.T) {
	w := newNetwork()
	do := w.must(t)
	do("start a b c migrate=2", "submit a job0 on=b", "run", "advance 100s", "end b job0/0 exit 0", "run",
		"submit a job9 on=c", "run", "advance 100s", "end c job9/0 exit 0", "run",
		"submit a job8 on=b bid=9", "run", "advance 3s",
		"submit a job1 on=b,c policy=workqueue:2 idempotent retries=1", "run",
		"advance 40s", "close c job1/0 40", "run", "hold c -> a refuse", "submit a job2 on=c bid=9 count=4",
		"run", "advance 5s")
	if n := w.member("c").n.Stats(w.now).Vacated; n != 1 {
		t.Fatalf("%d attempts were given up", n)
	}
	do("end b job8/0 exit 0", "run", "advance 1s")
	if at := placeOf(w); at != "b" {
		t.Fatalf("it has an attempt at %q\n%s", at, &w.out)
	}
	do("release c -> a refuse", "run", "advance 10s")
	s := w.member("a").n.Stats(w.now)
	if s.Lost != 0 || s.Migrated != 1 || s.Backups != 1 || countOf(w) != 1 {
		t.Errorf("%d attempts are lost, %d moved, %d backups, and it runs at %d nodes: want 0, and one of all others", s.Lost,
			s.Migrated, s.Backups, countOf(w))
	}
	do("end b job1/0 exit 0", "run")
}

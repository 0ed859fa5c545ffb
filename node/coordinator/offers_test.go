package coordinator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// endAll lets the programs that run at a node end well, one after the other, until so many more have ended or nothing
// runs any more.
func (w *network) endAll(m *member, most int) {
	for ; most > 0 && len(m.running) > 0; most-- {
		s := m.running[0]
		w.ended(m, s.Attempt, &grid.Result{Cause: grid.Exited, Wall: w.now.Sub(m.since[s.Attempt])})
		w.events = 0
		w.advance(20 * time.Millisecond)
	}
}

// An owner dies of which most tasks were not offered, since two may run at a time. With retries 0 its successor ends as
// lost only those of which no member holds that they were not offered: none if nothing was offered for a while, else
// those of the last batches. It runs the others, each once.
func TestTasksThatWereNotOfferedSurviveTheirOwner(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags string
		quiet time.Duration // since the last offer
		lost  int           // at most
	}{
		{"nothing is recorded", "", 5 * time.Second, 198},
		{"after a while", " offers", 5 * time.Second, 0},
		{"between two offers", " offers", 0, 96},
	} {
		t.Run(c.name, func(t *testing.T) {
			const count, ended = 300, 100
			w := newNetwork()
			do := w.must(t)
			do("start a b c members=3", "start d cpus=2",
				"submit a job1 on=d count=300 retries=0 max-running=2"+c.flags, "run", "advance 20ms")
			d := w.member("d")
			w.endAll(d, ended)
			w.advance(c.quiet)
			do("kill a", "advance 25s")
			w.endAll(d, count)
			var owner *member
			for _, m := range w.nodes[1:3] {
				for _, r := range m.disk {
					if r.Kind == grid.RecRegister && r.Register.Owner == m.cfg.Self {
						owner = m
					}
				}
			}
			if owner == nil {
				t.Fatal("nobody owns the job")
			}
			lost, over := 0, 0
			for _, r := range owner.disk {
				if r.Kind == grid.RecEntry && r.Entry.ID.Task.Index < count && r.Entry.State == grid.Ended {
					if over++; r.Entry.Result.Cause == grid.Lost {
						lost++
					}
				}
			}
			starts := map[uint32]int{}
			for id := range d.since {
				if starts[id.Task.Index]++; starts[id.Task.Index] > 1 {
					t.Errorf("task %d has started twice", id.Task.Index)
				}
			}
			t.Logf("%d ended, %d lost, %d started", over, lost, len(starts))
			if over != count || lost != count-len(starts) {
				t.Errorf("%d of %d tasks ended, %d lost and %d started", over, count, lost, len(starts))
			}
			if lost > c.lost || c.flags == "" && lost < c.lost {
				t.Errorf("%d tasks ended as lost that had never started, want at most %d", lost, c.lost)
			}
		})
	}
}

// A job of which it is recorded which tasks may have been offered costs no message, record or moment more than another
// one as long as it has up to 64 tasks and goes on. One of 2,000 tasks writes 31 times more, beside its 2,000 ends.
func TestRecordedOffersCostLittle(t *testing.T) {
	run := func(count int, flags string) (told string, events int, now grid.Time, register int) {
		w := newNetwork()
		w.must(t)("start a b c members=3", "start d cpus=32",
			fmt.Sprintf("submit a job1 on=d count=%d retries=0%s", count, flags), "run", "advance 20ms")
		d := w.member("d")
		for len(d.running) > 0 {
			for _, s := range slices.Clone(d.running) {
				w.ended(d, s.Attempt, &grid.Result{Cause: grid.Exited, Wall: w.now.Sub(d.since[s.Attempt])})
			}
			w.advance(20 * time.Millisecond)
		}
		for _, r := range w.member("b").disk {
			if r.Kind == grid.RecEntry && r.Entry.ID.Task.Index > uint32(count) {
				register += r.Entry.Open.Weight()
			}
		}
		if n := len(d.since); n != count {
			t.Fatalf("%d of %d tasks have started", n, count)
		}
		return w.out.String(), w.events, w.now, register
	}
	for _, count := range []int{1, 64} {
		told, _, _, _ := run(count, "")
		if other, _, _, _ := run(count, " offers"); other != told {
			t.Errorf("%d tasks: another course of events than without", count)
		}
	}
	told, events, now, _ := run(2000, "")
	other, more, later, register := run(2000, " offers")
	writes := strings.Count(other, " saves task job1/2001 pending, offers")
	t.Logf("2,000 tasks: %d and %d lines, %d and %d events, %v and %v; %d bytes in a register", strings.Count(told, "\n"),
		strings.Count(other, "\n"), events, more, now, later, register)
	if want := 31 * (2 + 1 + 1); writes != want { // at the owner when it is written and committed, and at each member
		t.Errorf("saved %d times, want %d", writes, want)
	}
	if more > events+events/100 || later > now+now/100 || register > 400 {
		t.Errorf("%d events take until %v and a register %d bytes more, want about %d and %v, and 400", more, later, register,
			events, now)
	}
}

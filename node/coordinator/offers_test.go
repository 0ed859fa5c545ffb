package coordinator_test

import (
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

package node

import (
	"testing"
	"time"

	"skep/grid"
)

// The variation of run times survives a restart.
func TestRunTimeVariationSurvivesRestart(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	for i, d := range []time.Duration{time.Second, 9 * time.Second, 2 * time.Second, 40 * time.Second} {
		r.offer(fastID, foreignAttempt(byte(i)), spec(nil))
		r.now = r.now.Add(d)
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(byte(i)), Result: &grid.Result{Cause: grid.Exited,
			Wall: d}})
	}
	class := grid.ClassOf(spec(nil))
	mean, scv := r.n.peers.RunTime(class)
	s := r.restart()
	if m, c := s.n.peers.RunTime(class); m != mean || c != scv || scv == 0 {
		t.Errorf("after a restart mean %g and c² %g, before %g and %g", m, c, mean, scv)
	}
}

// Regression: an attempt that ended while its node was stopped was taken for one that had run until the node went on,
// and as much was expected of others, for which the budget of their job did not suffice then.
func TestRunTimeIsWithoutStops(t *testing.T) {
	for _, x := range []struct {
		name         string
		own, stopped bool
		wall         time.Duration
		want         float64
	}{
		{"it ended while the node was stopped", false, true, 3 * time.Second, 3},
		{"it ran on meanwhile", false, true, 20 * time.Second, 20},
		{"its output took long to collect", false, false, 3 * time.Second, 20},
		{"it was this node's own", true, true, 3 * time.Second, 3},
		{"it was this node's own, and its output took long to collect", true, false, 3 * time.Second, 20},
	} {
		r, id := newRig(t, nil), foreignAttempt(1)
		if x.own {
			id = grid.AttemptID{Task: grid.TaskID{Job: jobID(1)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
			r.submit(jobID(1), spec(nil))
		} else {
			r.join(fastID, 1, "linux")
			r.offer(fastID, id, spec(nil))
		}
		if len(r.fx.Starts) != 1 || r.fx.Starts[0].Attempt != id {
			t.Fatalf("%s: started %+v", x.name, r.fx.Starts)
		}
		for range 10 {
			if r.now = r.now.Add(2 * time.Second); !x.stopped {
				r.step(grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerBeat}})
			}
		}
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Wall: x.wall}})
		if mean, _ := r.n.peers.RunTime(grid.ClassOf(spec(nil))); mean != x.want {
			t.Errorf("%s: it took %g s, want %g", x.name, mean, x.want)
		}
	}
}

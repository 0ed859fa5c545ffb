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

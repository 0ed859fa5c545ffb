package net

import (
	"testing"
	"time"

	"skep/sim"
)

// Sessions end with a farewell as often as the scenario says, and a farewell spares the grid from finding out.
func TestSessionsEndByFarewell(t *testing.T) {
	ends := func(share float64) (crashes, leaves int) {
		s := small()
		s.Groups[1].Up, s.Groups[1].Down, s.Groups[1].Leaves = Span{Kind: Exponential, A: 2 * time.Second}, Span{Kind: Constant, A: time.Second}, share
		last := map[int]sim.Fault{}
		for _, f := range s.faults(3) {
			switch f.Kind {
			case sim.Crash:
				crashes++
			case sim.Leave:
				leaves++
			case sim.Restart:
				if was := last[f.Nodes[0]]; was.Kind == sim.Leave && f.At < s.Time && f.At < was.At+2*time.Second {
					t.Errorf("node %d is back at %v, though it left at %v and takes a second to go", f.Nodes[0], f.At, was.At)
				}
			}
			last[f.Nodes[0]] = f
		}
		return
	}
	for _, share := range []float64{0, 0.3, 1} {
		crashes, leaves := ends(share)
		if n := crashes + leaves; n < 60 || float64(leaves) < (share-0.15)*float64(n) || float64(leaves) > (share+0.15)*float64(n) || share == 0 && leaves > 0 || share == 1 && crashes > 0 {
			t.Errorf("a share of %g: %d farewells and %d crashes", share, leaves, crashes)
		}
	}
	s := small()
	s.Groups[1].Up, s.Groups[1].Down, s.Groups[1].Leaves = Span{Kind: Exponential, A: 20 * time.Second}, Span{Kind: Constant, A: 5 * time.Second}, 1
	if r := run(t, s); r.Lost != 0 || r.Ended != r.Tasks {
		t.Errorf("%d of %d ended, %d lost", r.Ended, r.Tasks, r.Lost)
	}
}

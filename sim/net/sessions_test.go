package net

import (
	"testing"
	"time"

	"skep/grid"
	"skep/sim"
)

// Sessions end with a farewell as often as the scenario says, and a farewell saves the grid from detecting the
// absence.
func TestSessionsEndByFarewell(t *testing.T) {
	ends := func(share float64) (crashes, leaves int) {
		s := small()
		s.Groups[1].Up, s.Groups[1].Down, s.Groups[1].Leaves = Span{Kind: Exponential, A: 2 * time.Second},
			Span{Kind: Constant, A: time.Second}, share
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
		if n := crashes + leaves; n < 60 || float64(leaves) < (share-0.15)*float64(n) ||
			float64(leaves) > (share+0.15)*float64(n) || share == 0 && leaves > 0 || share == 1 && crashes > 0 {
			t.Errorf("a share of %g: %d farewells and %d crashes", share, leaves, crashes)
		}
	}
	s := small()
	s.Groups[1].Up, s.Groups[1].Down, s.Groups[1].Leaves = Span{Kind: Exponential, A: 20 * time.Second},
		Span{Kind: Constant, A: 5 * time.Second}, 1
	if r := run(t, s); r.Lost != 0 || r.Ended != r.Tasks {
		t.Errorf("%d of %d ended, %d lost", r.Ended, r.Tasks, r.Lost)
	}
}

// Tasks submitted to nodes that are down wait for them. Their number grows through a run that is not much longer than
// the absences, though most of the grid is idle: such a run was called unstable. A run in which nodes that are up get
// more than their policy lets them place still is.
func TestWaitingForAnAwayOriginIsNotInstability(t *testing.T) {
	churn := func(policy string, rate float64) *Report {
		s := small()
		s.Replications, s.Warmup, s.Time, s.Node.Policy = 1, time.Minute, 15*time.Minute, policy
		desk := Group{Name: "desk", Count: 10, Cores: 1, Memory: grid.GiB, Speed: 1,
			Up: Span{Kind: Exponential, A: 10 * time.Minute}, Down: Span{Kind: Exponential, A: 10 * time.Minute}}
		s.Groups, s.Classes = []Group{desk, {Name: "hall", Count: 10, Cores: 1, Memory: grid.GiB, Speed: 1}}, s.Classes[:1]
		s.Streams = []Stream{{Class: "a", Rate: rate, From: []string{"desk"}}}
		return run(t, s)
	}
	if r := churn("lpas_dec", 2); !r.Stable || r.Utilisation.Mean > 0.2 || r.Lost != 0 {
		t.Errorf("a seventh of the load that the grid can bear: stable %v, utilisation %.2f, %d lost", r.Stable,
			r.Utilisation.Mean, r.Lost)
	}
	if r := churn("local", 12); r.Stable {
		t.Errorf("every desk gets more than it can do and keeps it: stable, utilisation %.2f", r.Utilisation.Mean)
	}
}

// Tasks submitted to a node that never returns do not end and are not lost: if the node returned, it would have them.
func TestTasksOfANodeThatDoesNotComeBackAreNotLost(t *testing.T) {
	s := small()
	s.Replications = 1
	s.Faults = []Fault{{At: s.Time - 10*time.Second, Kind: sim.Crash,
		Nodes: []Pick{{Group: s.Groups[0].Name, From: 0, To: 0}}}}
	if r := run(t, s); r.Orphans == 0 || r.Lost != 0 || r.Ended+r.Orphans != r.Tasks {
		t.Errorf("%d of %d ended, %d of a node that is gone, %d lost", r.Ended, r.Tasks, r.Orphans, r.Lost)
	}
	alone := *s
	s.Node.Members = 3
	if r := run(t, s); r.Lost != 0 || r.Ended+r.Orphans != r.Tasks {
		t.Errorf("with three members: %d of %d ended, %d of a node that is gone, %d lost", r.Ended, r.Tasks, r.Orphans,
			r.Lost)
	}
	s.Faults = append(s.Faults, Fault{At: s.Time, Kind: sim.Restart, Nodes: s.Faults[0].Nodes})
	if r := run(t, s); r.Orphans != 0 || r.Lost != 0 || r.Ended != r.Tasks {
		t.Errorf("with three members, when it came back: %d of %d ended, %d of a node that is gone, %d lost", r.Ended,
			r.Tasks, r.Orphans, r.Lost)
	}
	s = &alone
	s.Faults = append(s.Faults, Fault{At: s.Time, Kind: sim.Restart, Nodes: s.Faults[0].Nodes})
	if r := run(t, s); r.Orphans != 0 || r.Lost != 0 || r.Ended != r.Tasks {
		t.Errorf("when it came back: %d of %d ended, %d of a node that is gone, %d lost", r.Ended, r.Tasks, r.Orphans, r.Lost)
	}
}

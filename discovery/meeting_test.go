package discovery

import (
	"testing"
	"time"

	"skep/grid"
)

// A node that has just started does not report a failed search before it has had time to connect; later, without
// neighbours, it reports it at once.
func TestANodeThatHasJustStartedWaitsForNeighbours(t *testing.T) {
	const start = grid.Time(time.Hour)
	needs := &grid.Needs{Labels: []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}}}
	neighbours := []grid.NodeID{{2}}
	for _, c := range []struct {
		after, want time.Duration
	}{{time.Second, 4 * time.Second}, {5 * time.Second, 0}, {time.Minute, 0}} {
		cfg := Defaults()
		cfg.CallHold = 0
		d := new(New(grid.NodeID{1}, &cfg, grid.NewRand(1, 1)))
		d.Start(start)
		now := start.Add(c.after)
		var fx grid.Effects
		d.Search(now, needs, grid.EngineProcess, nil, &fx)
		if len(fx.Wakes) != 1 || fx.Wakes[0].At.Sub(now) != c.want {
			t.Fatalf("%v after the start: wakes %v, want one after %v", c.after, fx.Wakes, c.want)
		}
		w := fx.Wakes[0]
		if _, over := d.Wake(w.At, w.Timer, nil, nil, &fx); !over {
			t.Errorf("%v after the start: the search goes on though nobody came", c.after)
		}
		d.Search(now, needs, grid.EngineProcess, nil, &fx)
		fx = grid.Effects{}
		if _, over := d.Wake(w.At, grid.Timer{Kind: w.Timer.Kind, Key: d.searches[0].id}, neighbours, nil, &fx); over ||
			len(fx.Sends) != 1 {
			t.Errorf("%v after the start: over %v and %d walks, want one walk to the neighbour that came", c.after, over,
				len(fx.Sends))
		}
	}
}

package peers

import (
	"testing"
	"time"

	"skep/grid"
)

// A core of a node with sixteen of them and two GPUs stands for an eighth of a task with one: all together for two.
func TestTasksThatACoreStandsFor(t *testing.T) {
	big := grid.Resources{CPU: 16 * grid.CPU, Counts: "fpga=1,gpu=2"}
	for _, c := range []struct {
		need   grid.Resources
		perAll float64 // of all sixteen cores
		atOnce float64
	}{
		{grid.Resources{CPU: grid.CPU}, 16, 0},
		{grid.Resources{CPU: 4 * grid.CPU}, 4, 0},
		{grid.Resources{CPU: grid.CPU, Counts: "gpu=1"}, 2, 2},
		{grid.Resources{CPU: 16 * grid.CPU, Counts: "gpu=1"}, 1, 2},
		{grid.Resources{CPU: grid.CPU, Counts: "fpga=1,gpu=1"}, 1, 1},
		{grid.Resources{CPU: grid.CPU, Counts: "gpu=2"}, 1, 1},
	} {
		if got := 16 * perCore(big, c.need); got != c.perAll || atOnce(big, c.need.Counts) != c.atOnce {
			t.Errorf("%v: %g at a time, bound %g: want %g and %g", c.need, got, atOnce(big, c.need.Counts), c.perAll, c.atOnce)
		}
	}
}

// By its ad a node starts a task when its cores and all units that it needs are to be had.
func TestStartByAnAd(t *testing.T) {
	ad := &grid.Ad{Backlog: 3 * time.Second, AdWork: grid.AdWork{Waits: "fpga=2,gpu=40"}}
	for need, want := range map[grid.Counts]float64{"": 3, "gpu=1": 40, "fpga=1": 3, "fpga=1,gpu=2": 40, "tpu=1": 3} {
		if got := startAt(ad, need); got != want {
			t.Errorf("%s: %g s, want %g", need, got, want)
		}
	}
}

package sim

import (
	"fmt"
	"slices"
	"testing"

	"skep/grid"
)

// swarmOfAims is Swarm with faults aimed at what nodes do in each world.
func swarmOfAims(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmAims -sim.seed %d", seed)
	aimSome(grid.NewRand(seed, 96), &c)
	return c
}

// Nothing breaks where nodes stop, stand still or are cut off just after a promise, a write or a takeover, or where
// the disk is full within a commit.
func TestSwarmAims(t *testing.T) {
	first, worlds := uint64(96000001), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	runWorlds(swarmOfAims, first, worlds, log, func(_ uint64, _ Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		return true
	})
}

// Aims of each kind hit at each moment, within a number of worlds in which they are likely to.
func TestAimsHit(t *testing.T) {
	var hits [moments]int
	kinds := map[FaultKind]bool{}
	for seed := range uint64(150) {
		w, err := New(swarmOfAims(97000001 + seed))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run(); err != nil {
			t.Error(err)
		}
		for _, a := range w.cfg.Aims {
			if !slices.ContainsFunc(w.aims, func(x Aim) bool { return x.After == a.After }) {
				hits[a.After]++
				kinds[a.Kind] = true
			}
		}
	}
	for m, n := range hits {
		if n == 0 {
			t.Errorf("no aim has hit after %v", Moment(m))
		}
	}
	if len(kinds) != 4 {
		t.Errorf("faults of kinds %v have hit, want four", kinds)
	}
}

package sim

import (
	"fmt"
	"testing"

	"skep/grid"
)

// swarmOfMoves is Swarm with gangs that have reasons to move in every world.
func swarmOfMoves(seed uint64) Config {
	c := swarmWithoutMoves(seed)
	slowGangs(seed, grid.NewRand(seed, 89), &c)
	return c
}

// The swarm has worlds in which gangs move to better nodes, in the midst of all faults.
func TestSwarmMoves(t *testing.T) {
	first, worlds := uint64(83000601), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	moved, in := 0, 0
	runWorlds(swarmOfMoves, first, worlds, log, func(seed uint64, r Report, err error) bool {
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if m := r.Checkpoints.Moved; m > 0 {
			moved, in = moved+m, in+1
		}
		return true
	})
	t.Logf("%d moves in %d of %d worlds", moved, in, worlds)
	if worlds >= 300 && in < worlds/20 {
		t.Errorf("gangs have moved in %d of %d worlds: want more", in, worlds)
	}
}

package sim

import (
	"fmt"
	"testing"

	"skep/grid"
	"skep/node"
)

// swarmOfMoves is Swarm with gangs that have reasons to move in every world.
func swarmOfMoves(seed uint64) Config {
	c := swarmWithoutMoves(seed)
	slowGangs(seed, grid.NewRand(seed, 89), &c)
	return c
}

// swarmOfMigrations is Swarm with single tasks that have reasons to move in every world.
func swarmOfMigrations(seed uint64) Config {
	c := swarmWithoutMoves(seed)
	migrate(seed, grid.NewRand(seed, 90), &c)
	return c
}

// The swarm has worlds in which gangs, and single tasks that have started, move to better nodes, in the midst of all
// faults.
func TestSwarmMoves(t *testing.T) {
	t.Run("gangs", func(t *testing.T) {
		swarmMoves(t, 83000601, swarmOfMoves, func(r *Report) int { return r.Checkpoints.Moved })
	})
	t.Run("tasks", func(t *testing.T) {
		swarmMoves(t, 84000601, swarmOfMigrations, func(r *Report) int { return r.Checkpoints.Migrated })
	})
}

// swarmOfReallocations is Swarm with nodes that allocate their cores anew in every world, of tasks that take long: for
// longer than the bounds of classes, by which nodes that contradict each other would send them to and fro for ever.
func swarmOfReallocations(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	rate, other := c.Machine.Rate, c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.Bounds = nil
	}
	c.Machine.Rate = func(class string, i int) float64 { return rate(class, i) / 4 }
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmReallocations -sim.seed %d", seed)
	reallocate(seed, grid.NewRand(seed, 98), &c)
	return c
}

// Nothing is lost or waits beside idle cores, and no task is suspended too often, where cores are allocated anew, in
// the midst of all faults.
func TestSwarmReallocations(t *testing.T) {
	swarmMoves(t, 98000001, swarmOfReallocations, func(r *Report) int { return r.Suspensions })
}

func swarmMoves(t *testing.T, first uint64, draw func(uint64) Config, moves func(*Report) int) {
	worlds := *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	moved, in := 0, 0
	runWorlds(draw, first, worlds, log, func(seed uint64, r Report, err error) bool {
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if m := moves(&r); m > 0 {
			moved, in = moved+m, in+1
		}
		return true
	})
	t.Logf("%d moves or suspensions in %d of %d worlds", moved, in, worlds)
	if worlds >= 300 && in < worlds/20 {
		t.Errorf("something has moved in %d of %d worlds: want more", in, worlds)
	}
}

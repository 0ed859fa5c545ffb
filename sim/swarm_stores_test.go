package sim

import (
	"fmt"
	"testing"

	"skep/grid"
)

// swarmOfStores is Swarm in which stores are put back in each world of three nodes or more.
func swarmOfStores(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmStores -sim.seed %d", seed)
	if c.Nodes >= 3 {
		putBackSome(grid.NewRand(seed, 95), &c)
	}
	return c
}

// Nodes whose stores were put back stop when they meet one that knows, and nothing that was promised is broken.
func TestSwarmStores(t *testing.T) {
	first, worlds := uint64(95000001), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	found, undecided, with := 0, 0, 0
	runWorlds(swarmOfStores, first, worlds, log, func(_ uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		found += r.PutBack
		if r.PutBack > 0 {
			with++
		}
		if r.Undecided {
			undecided++
		}
		return true
	})
	t.Logf("of %d worlds %d have nodes that found out that their stores were put back, %d in all; %d are undecided",
		worlds, with, found, undecided)
	if worlds >= 100 && (with < worlds/3 || undecided > worlds/3) {
		t.Errorf("want a third at least where it is found out, and undecided a third at most")
	}
}

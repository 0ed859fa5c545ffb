package sim

import (
	"fmt"
	"testing"

	"skep/grid"
)

// swarmOfVersions is Swarm with nodes of two versions, and signed jobs, in each world.
func swarmOfVersions(seed uint64) Config {
	c := swarmOfSigned(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmVersions -sim.seed %d", seed)
	mixVersions(grid.NewRand(seed, 101), &c)
	return c
}

// Nodes of an older version are given nothing that they cannot keep or run, also while they are upgraded one after the
// other, and everything comes to its end.
func TestSwarmVersions(t *testing.T) {
	first, worlds := uint64(101000001), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	verified := 0
	runWorlds(swarmOfVersions, first, worlds, log, func(_ uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		verified += r.Verified
		return true
	})
	t.Logf("%d ends were verified", verified)
}

package sim

import (
	"fmt"
	"testing"

	"skep/grid"
)

// swarmOfSigned is Swarm with signed jobs in each world.
func swarmOfSigned(seed uint64) Config {
	c := Swarm(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmSigned -sim.seed %d", seed)
	signSome(grid.NewRand(seed, 100), &c)
	return c
}

// Each end of a signed job that any node writes to its disk is proved by signatures from the job's origin on, and is
// how the attempt ran, in the midst of all faults.
func TestSwarmSigned(t *testing.T) {
	first, worlds := uint64(100000001), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	verified := 0
	runWorlds(swarmOfSigned, first, worlds, log, func(_ uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		verified += r.Verified
		return true
	})
	t.Logf("%d ends were verified", verified)
	if verified < worlds {
		t.Errorf("%d ends were verified in %d worlds, want as many", verified, worlds)
	}
}

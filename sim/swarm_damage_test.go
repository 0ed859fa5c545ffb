package sim

import (
	"fmt"
	"testing"

	"skep/grid"
)

// swarmOfDamage is Swarm with damaged disks and wall clocks that are set in each world.
func swarmOfDamage(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmDamage -sim.seed %d", seed)
	damageSome(grid.NewRand(seed, 102), &c)
	return c
}

// A record with flipped bits is read as it was written, or its node does not start; a commit that was lost after it was
// acknowledged is found out like a store that was put back; wall clocks that are set change no answer.
func TestSwarmDamage(t *testing.T) {
	first, worlds := uint64(102000001), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	refused, found, undecided := 0, 0, 0
	runWorlds(swarmOfDamage, first, worlds, log, func(_ uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		refused, found = refused+r.Refused, found+r.PutBack
		if r.Undecided {
			undecided++
		}
		return true
	})
	t.Logf("%d starts were refused, %d nodes found out that a commit was lost; of %d worlds %d are undecided", refused,
		found, worlds, undecided)
	if worlds >= 100 && (refused == 0 || found == 0 || undecided > worlds/3) {
		t.Error("want some of each, and undecided a third at most")
	}
}

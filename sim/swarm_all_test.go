package sim

import "testing"

// All that worlds can have at once goes together.
func TestSwarmOfAll(t *testing.T) {
	first, worlds := uint64(1), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	runWorlds(swarmOfAll, first, worlds, nil, func(_ uint64, _ Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		return true
	})
}

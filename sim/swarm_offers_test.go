package sim

import (
	"fmt"
	"slices"
	"testing"

	"skep/grid"
)

// swarmOfOffers is Swarm in which tasks run at most once and registers say which may have been offered. In half of the
// worlds some jobs have so many tasks that this is written again and again.
func swarmOfOffers(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmOffers -sim.seed %d", seed)
	r := grid.NewRand(seed, 101)
	long := r.IntN(2) == 0 && !slices.ContainsFunc(c.Work, func(s Submission) bool { return len(s.Spec.After.Jobs) > 0 })
	for k := range c.Work {
		s := &c.Work[k]
		if s.Spec.IsGang() {
			continue
		}
		spec := *s.Spec
		spec.Retries, spec.Idempotent, spec.Rules.Reliability = 0, false, grid.ReliabilityRetries
		spec.Rules.OnFailure.Rerun = spec.Rules.OnFailure.Retry > 0
		if long && spec.Array == nil && r.IntN(3) == 0 {
			s.Size /= 20
			spec.Count = uint32(65 + r.IntN(150))
			if r.IntN(2) == 0 {
				spec.Rules.MaxRunning = int32(1 + r.IntN(4))
			}
		}
		spec.RecordsOffers, s.Spec = true, &spec
	}
	return c
}

// Of tasks of which an owner and its successors record what may have been offered none starts twice, and all end, in
// the midst of all faults.
func TestSwarmOffers(t *testing.T) {
	first, worlds := uint64(87000601), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	runWorlds(swarmOfOffers, first, worlds, log, func(_ uint64, _ Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		return true
	})
}

package sim

import (
	"fmt"
	"testing"
	"time"

	"skep/grid"
)

// swarmOfBudgets is Swarm in which every job has a budget, which suffices for some, and in which clients have tasks run
// again.
func swarmOfBudgets(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmBudgets -sim.seed %d", seed)
	r := grid.NewRand(seed, 93)
	again := r.IntN(3) == 0
	for k := range c.Work {
		s := &c.Work[k]
		spec := *s.Spec
		spec.Rules.Budget = 1 + grid.Budget(r.IntN(3*int(spec.Count)))
		switch r.IntN(4) {
		case 0:
			spec.Rules.Budget *= 20
		case 1:
			spec.Rules.Budget = grid.Budget(max(float64(spec.Count)*s.Size, 1))
		}
		if s.Spec = &spec; again && r.IntN(2) == 0 && !spec.IsGang() {
			s.RetryTask = s.At + time.Duration(r.Int64N(int64(time.Minute)))
			s.RetryUntil = s.RetryTask + time.Minute
		}
	}
	return c
}

// No attempts use more than their job's budget, in the midst of all faults, and none is refused for want of a budget
// that is there.
func TestSwarmBudgets(t *testing.T) {
	first, worlds := uint64(85000601), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	runWorlds(swarmOfBudgets, first, worlds, log, func(_ uint64, _ Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		return true
	})
}

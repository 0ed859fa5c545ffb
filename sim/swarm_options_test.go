package sim

import (
	"fmt"
	"slices"
	"testing"

	"skep/grid"
	"skep/node"
)

// swarmOfOptions is Swarm in which three quarters of the jobs that are no gangs have options: the first needs what the
// job needs alone, the others up to as many cores again, with a speedup and a value of their own.
func swarmOfOptions(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmOptions -sim.seed %d", seed)
	other := c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		for _, l := range grid.FeatureLabels() {
			if !slices.ContainsFunc(n.Labels, func(x grid.Label) bool { return x.Key == l.Key }) {
				n.Labels = append(slices.Clone(n.Labels), l)
			}
		}
	}
	r := grid.NewRand(seed, 94)
	for k := range c.Work {
		s := &c.Work[k]
		if s.Spec.IsGang() || r.IntN(4) == 0 {
			continue
		}
		spec := *s.Spec
		options := []grid.Option{{Resources: spec.Needs.Resources, Speedup: 1, Value: 1}}
		for range 1 + r.IntN(grid.MaxOptions-1) {
			o := options[0]
			o.CPU += grid.MilliCPU(r.Int64N(int64(o.CPU))) + grid.CPU/4
			o.Speedup = 0.5 + 2*r.Float64()
			if r.IntN(2) == 0 {
				o.Value = 0.5 + r.Float64()
			}
			options = append(options, o)
		}
		spec.Needs.Labels = slices.Clone(spec.Needs.Labels)
		spec.Needs.SetOptions(options)
		s.Spec = &spec
	}
	return c
}

// Jobs with options come to their ends in the midst of all faults, and no node runs more than it has room for.
func TestSwarmOptions(t *testing.T) {
	first, worlds := uint64(94000101), *swarmFlag
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	several := 0
	runWorlds(swarmOfOptions, first, worlds, log, func(_ uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		several += r.Ended
		return true
	})
	if several == 0 {
		t.Error("no task has ended")
	}
}

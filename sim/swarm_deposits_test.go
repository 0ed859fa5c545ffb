package sim

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/node"
)

// SwarmDeposits is Swarm with little room for others' files: jobs have three members or more, most have files, and
// members evict finished jobs all the time while others have not heard that these are over.
func SwarmDeposits(seed uint64) Config {
	// no retries: of a job that a majority has evicted, or lost, what is run again need not end
	c := swarmUnasked(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmDeposits -sim.seed %d", seed)
	r := grid.NewRand(seed, 81)
	members, lend, plain := max(membersOf(seed), 3), grid.Bytes(4+r.IntN(12))*grid.MiB, c.Node
	c.Node = func(i int, c *node.Config) {
		plain(i, c)
		c.Members, c.DepositQuota, c.DepositLimit = members, lend, 5*grid.MiB/2
	}
	if membersOf(seed) == 1 { // else Swarm did so
		c.Rest = 90 * time.Second
		c.Faults = addLossAndDrift(grid.NewRand(seed, 78), c.Nodes, c.Faults)
	}
	for k := range c.Work {
		s := c.Work[k].Spec
		if r.IntN(4) > 0 {
			s.Inputs = []grid.File{{Path: "data", Blob: grid.BlobID{byte(1 + r.IntN(3))}, Size: grid.MiB}}
		}
		if r.IntN(4) > 0 {
			s.Outputs = []string{"out"}
		}
	}
	return c
}

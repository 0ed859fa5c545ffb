package sim

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node"
)

// hostileKeeper makes one node of a world keep jobs of others and lie about them. All jobs are signed and have three
// members or more, as many as can be. It reports whether they all are.
func hostileKeeper(r *grid.Rand, c *Config) bool {
	bad := r.IntN(c.Nodes)
	c.Hostile = func(i int) Behaviour {
		if i == bad {
			return Forger
		}
		return 0
	}
	labelNodes(c)
	c.Conserves, c.Hindsight = false, false
	for k := range c.Work {
		sign(&c.Work[k], k)
	}
	return !slices.ContainsFunc(c.Work, func(s Submission) bool { return !s.Spec.Signed })
}

// swarmOfKeepers is Swarm with a hostile keeper in each world, and all kinds of faults.
func swarmOfKeepers(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmForgedEnds -sim.seed %d", seed)
	hostileKeeper(grid.NewRand(seed, 103), &c)
	c.OnlySigned, c.Bound, c.Rest = true, time.Minute, 0
	return c
}

// Whatever a hostile member says and whatever happens besides, no node writes to its disk, and so none shows, an end
// of a signed job that the assigned worker has not signed, or of those without one the owner.
func TestSwarmForgedEnds(t *testing.T) {
	first, worlds := uint64(103000001), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	verified := 0
	runWorlds(swarmOfKeepers, first, worlds, nil, func(_ uint64, r Report, err error) bool {
		if f := new(Failure); errors.As(err, &f) && !f.Late {
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

// swarmOfConnected is Swarm with a hostile keeper in each world and no faults: honest members are connected to each
// other.
func swarmOfConnected(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmHostileKeepers -sim.seed %d", seed)
	hostileKeeper(grid.NewRand(seed, 103), &c)
	c.Faults, c.Network.Mesh = nil, true
	c.Network.Loss = min(c.Network.Loss, 0.02)
	return c
}

// With one hostile member, and honest ones that are connected to each other, no job is lost, no task that may run at
// most once runs twice, and everything comes to its end.
func TestSwarmHostileKeepers(t *testing.T) {
	first, worlds := uint64(103000001), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	verified := 0
	runWorlds(swarmOfConnected, first, worlds, log, func(_ uint64, r Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		verified += r.Verified
		return true
	})
	t.Logf("%d ends were verified", verified)
}

// swarmOfVoters is Swarm with a hostile keeper in each world, jobs of five members, and a node that is lost for good.
func swarmOfVoters(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmHostileVoters -sim.seed %d", seed)
	r := grid.NewRand(seed, 103)
	c.Nodes = max(c.Nodes, 7)
	hostileKeeper(r, &c)
	other := c.Node
	c.Node = func(i int, n *node.Config) { other(i, n); n.Members = grid.MaxMembers }
	c.OnlySigned, c.Network.Mesh = true, true
	c.Network.Loss = min(c.Network.Loss, 0.02)
	c.Faults = []Fault{{At: time.Duration(r.Int64N(int64(30 * time.Second))), Kind: Lose, Nodes: []int{r.IntN(c.Nodes)}}}
	return c
}

// With a hostile member and one that is lost for good, of five, no job is lost: what the hostile one says of votes,
// closed jobs and later owners keeps nobody from becoming the owner whom a majority of honest ones votes for.
func TestSwarmHostileVoters(t *testing.T) {
	first, worlds := uint64(103000001), (*swarmFlag+2)/3
	if *seedFlag != 0 {
		first, worlds = *seedFlag, 1
	}
	var log func(string)
	if *logFlag {
		log = func(line string) { fmt.Println(line) }
	}
	runWorlds(swarmOfVoters, first, worlds, log, func(_ uint64, _ Report, err error) bool {
		if err != nil {
			t.Error(err)
		}
		return true
	})
}

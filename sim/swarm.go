package sim

import (
	"fmt"
	"time"

	"skep/grid"
	"skep/node"
)

// Swarm draws a small world of real nodes with all kinds of faults at once: nodes, network, disks, work, policies and
// faults are random. It must run to its end without a failure under every seed.
func Swarm(seed uint64) Config {
	c := swarmOfSoundStores(seed)
	addStores(seed, &c)
	addAims(seed, &c)
	addReallocations(seed, &c)
	c.Network.Bytes = splitmix(seed^0x6279746573)%4 == 0 // the world goes as it goes without
	return c
}

// swarmOfAll is Swarm with all that has a test of its own besides: registers that record offers, members that are
// replaced, signed jobs, nodes of two versions and damaged disks.
func swarmOfAll(seed uint64) Config {
	c := Swarm(seed)
	c.Repeat = fmt.Sprintf("go test ./sim -run TestSwarmOfAll -sim.seed %d", seed)
	changeSome(grid.NewRand(seed, 100), &c, func(s *grid.JobSpec) { s.RecordsOffers = s.MayRecordOffers() })
	addReplacements(seed, &c)
	addSigned(seed, &c)
	addVersions(seed, &c)
	addDamage(seed, &c)
	return c
}

// swarmOfSoundStores is Swarm as it was before stores were put back: seeds that failed then mean these worlds.
func swarmOfSoundStores(seed uint64) Config {
	c := swarmWithoutMoves(seed)
	addMoves(seed, &c)
	addSharing(seed, &c)
	addMarket(seed, &c)
	addMigrations(seed, &c)
	addBudgets(seed, &c)
	return c
}

// swarmWithoutMoves is Swarm as it was before gangs moved to better nodes, tasks shared cores and owners went by
// prices: seeds that failed then mean these worlds.
func swarmWithoutMoves(seed uint64) Config {
	c := swarmWithoutSizes(seed)
	addGangSizes(seed, &c)
	addSuspensions(seed, &c)
	return c
}

// swarmWithoutSizes is Swarm as it was before gangs had attempts of several sizes, and tasks were suspended: seeds that
// failed then mean these worlds.
func swarmWithoutSizes(seed uint64) Config {
	c := swarmWithoutCheckpoints(seed)
	addCheckpoints(seed, &c)
	return c
}

// swarmWithoutCheckpoints is Swarm as it was before tasks had checkpoints: seeds that failed then mean these worlds.
func swarmWithoutCheckpoints(seed uint64) Config {
	c := swarmWithoutDeadlines(seed)
	addDeadlines(seed, &c)
	return c
}

// swarmWithoutDeadlines is Swarm as it was before jobs had deadlines: seeds that failed then mean these worlds.
func swarmWithoutDeadlines(seed uint64) Config {
	c := swarmEqual(seed)
	addBids(seed, &c)
	return c
}

// swarmEqual is Swarm as it was before jobs bid: seeds that failed then mean these worlds.
func swarmEqual(seed uint64) Config {
	c := swarmSingle(seed)
	addGangs(seed, &c)
	return c
}

// swarmSingle is Swarm as it was before tasks started together: seeds that failed then mean these worlds.
func swarmSingle(seed uint64) Config {
	c := swarmUnordered(seed)
	addOrder(seed, &c)
	conserve(&c)
	return c
}

// conserve has the oracle see that work is conserved in worlds where nodes pull, and where neither a policy nor the
// bound of a class keeps tasks from idle nodes.
func conserve(c *Config) {
	var n node.Config
	c.Node(0, &n)
	c.Conserves = n.Pull && n.Policy != "local" && len(n.Bounds) == 0
	c.Hindsight = c.Conserves
}

// swarmUnordered is Swarm as it was before jobs waited for others: seeds that failed then mean these worlds.
func swarmUnordered(seed uint64) Config {
	c := swarmUnasked(seed)
	addTaskRequests(seed, &c)
	return c
}

// swarmUnasked is Swarm as it was before clients asked for anything about single tasks: seeds that failed then mean
// these worlds.
func swarmUnasked(seed uint64) Config {
	c := swarmFinal(seed)
	addReruns(seed, &c)
	return c
}

// swarmFinal is Swarm as it was when each recorded end was final: seeds that failed then mean these worlds.
func swarmFinal(seed uint64) Config {
	c := swarmUnshared(seed)
	addSharedMachines(seed, &c)
	return c
}

// swarmUnshared is Swarm as it was before machines had other users: seeds that failed then mean these worlds.
func swarmUnshared(seed uint64) Config {
	c := swarmBase(seed)
	addHardFaults(seed, &c)
	return c
}

// swarmBase is Swarm as it was before addHardFaults: seeds that failed then mean these worlds.
func swarmBase(seed uint64) Config {
	r := grid.NewRand(seed, 77)
	n := 2 + r.IntN(9)
	share := func(most float64) float64 { return most * max(0, r.Float64()*1.5-0.5) } // 0 in a third of the worlds
	lo := time.Duration(1+r.IntN(20)) * 500 * time.Microsecond
	c := Config{Seed: seed, Nodes: n, Check: CheckPoison, Rest: 30 * time.Second,
		Network: Network{Latency: Uniform(lo, lo*time.Duration(1+r.IntN(20))), Mesh: r.IntN(2) == 0, Join: 1 + r.IntN(3),
			Loss: share(0.25), Duplicate: share(0.2), Reorder: share(0.3),
			Detect: time.Duration(r.IntN(5000)) * time.Millisecond},
		Disk:   Disk{Sync: time.Duration(r.IntN(3)) * 5 * time.Millisecond},
		Spread: time.Duration(r.IntN(3)) * time.Second,
		Drawn:  Drawn{Repeat: fmt.Sprintf("skep sim swarm --seeds 1 --seed %d", seed)},
	}
	// met waits for a rate that only a run would measure
	policies := []string{"lpas_dec", "lpas_dec", "mct", "random", "two_choices", "local", "kpb:2", "olb"}
	policy := policies[r.IntN(len(policies))]
	members, pulls := membersOf(seed), splitmix(seed^0x70756c6c)%2 == 0
	c.Node = func(i int, c *node.Config) {
		c.Members, c.Pull = members, pulls
		c.Capacity.CPU = grid.CPU * grid.MilliCPU(1+splitmix(seed+uint64(i))%4)
		c.Policy = policy
		if splitmix(seed^0x626f75a1)%5 == 0 {
			c.Bounds = []node.Bound{{Class: "a", Time: 3 * time.Second, Next: "b"},
				{Class: "b", Time: 5 * time.Second, Next: "c"}}
			if i%2 == 1 { // contradicts the other nodes
				c.Bounds = []node.Bound{{Class: "b", Time: 5 * time.Second, Next: "a"}}
			}
		}
	}
	classes := []string{"a", "b", "c"}[:1+r.IntN(3)]
	c.Machine = Machine{Size: Exponential(), Overhead: 2 * time.Millisecond,
		Rate: func(class string, i int) float64 {
			x := splitmix(seed ^ uint64(class[0])<<32 ^ uint64(i))
			if x%7 == 0 && policy != "local" { // local would wait for ever
				return 0
			}
			return 0.1 + float64(x>>8%100)/50
		},
		End: func(a grid.AttemptID, _ string, i int) Ending {
			if splitmix(uint64(a.Task.Index)+seed)%11 == 0 {
				return Ending{Exit: 3}
			}
			return Ending{}
		},
		Stop: func(a grid.AttemptID) time.Duration { // one in four ignores it until it is killed
			if x := splitmix(uint64(a.N)<<32 ^ uint64(a.Task.Index) ^ seed>>1); x%4 == 0 {
				return 5 * time.Second
			}
			return time.Millisecond
		}}
	at := time.Duration(0)
	for range 4 + r.IntN(12) {
		s := swarmSpec(classes[r.IntN(len(classes))], uint32(1+r.IntN(8)), grid.CPU*grid.MilliCPU(1+r.IntN(2)))
		if policy == "local" {
			s.Needs.CPU = grid.CPU
		}
		s.Retries = []int32{0, 2, 1000}[r.IntN(3)]
		if r.IntN(6) == 0 {
			s.Inputs = []grid.File{{Path: "data", Blob: grid.BlobID{byte(1 + r.IntN(3))}, Size: grid.MiB}}
		}
		if splitmix(seed^uint64(len(c.Work))^0x6f757473)%4 == 0 {
			s.Outputs = []string{"out"}
		}
		if x := splitmix(seed ^ 0x7477696b); x%4 == 0 && policy != "local" { // in a quarter of the worlds
			s.Policy, s.Idempotent = "workqueue:2", s.Retries > 0 && splitmix(x+uint64(len(c.Work)))%3 > 0
		}
		if x := splitmix(seed ^ 0x72656c69); x%8 == 1 && policy != "local" && s.Retries > 0 { // in an eighth
			s.Idempotent, s.Rules.Reliability = true, grid.ReliabilityAuto+grid.Reliability(x>>8%5)
		}
		if x := splitmix(seed ^ 0x62617463); x%8 == 0 && policy != "local" && s.Policy == "" {
			s.Policy = batchPolicies[x>>8%uint64(len(batchPolicies))]
		}
		at += time.Duration(r.IntN(5000)) * time.Millisecond
		sub := Submission{At: at, Node: r.IntN(n), Spec: s}
		if r.IntN(8) == 0 {
			sub.Cancel = at + time.Duration(r.IntN(5000))*time.Millisecond
		}
		c.Work = append(c.Work, sub)
	}
	c.Faults = DrawFaults(r, n, r.IntN(7), time.Minute)
	if members > 1 {
		c.Rest = 90 * time.Second // a node that was unreachable for long learns the end later
		c.Faults = addLossAndDrift(grid.NewRand(seed, 78), n, c.Faults)
	}
	return c
}

// batchPolicies map tasks of several jobs together; the last of them also by their ages.
var batchPolicies = [...]string{"min_min", "max_min", "sufferage", "xsufferage", "qos_min_min", "dfpltf:20"}

// membersOf draws the number of members of jobs: in a third of the worlds the origin alone.
func membersOf(seed uint64) int {
	return [...]int{1, 1, 3, 3, 3, 5}[splitmix(seed^0x6d656d62)%6]
}

func swarmSpec(class string, count uint32, cpu grid.MilliCPU) *grid.JobSpec {
	return &grid.JobSpec{Class: class, Engine: grid.EngineProcess, Command: []string{"work"}, Count: count,
		Needs: grid.Needs{Resources: grid.Resources{CPU: cpu, Memory: grid.MiB}}}
}

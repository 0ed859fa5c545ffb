package sim

import (
	"slices"
	"time"

	"skep/balance/order"
	"skep/grid"
	"skep/node"
)

// addTaskRequests has clients cancel tasks, and have tasks run again that have ended, in a quarter of the worlds.
func addTaskRequests(seed uint64, c *Config) {
	r := grid.NewRand(seed, 82)
	if r.IntN(4) > 0 {
		return
	}
	for k := range c.Work {
		s := &c.Work[k]
		if r.IntN(3) == 0 {
			s.CancelTask = s.At + time.Duration(r.Int64N(int64(20*time.Second)))
		}
		if r.IntN(2) == 0 {
			s.RetryTask = s.At + time.Duration(r.Int64N(int64(time.Minute)))
		}
	}
}

// addReruns has jobs of a third of the worlds run failed tasks again, or bound how many of their tasks run at a time or
// may fail. There each attempt fails half of the time.
func addReruns(seed uint64, c *Config) {
	r := grid.NewRand(seed, 81)
	if r.IntN(3) > 0 {
		return
	}
	end := c.Machine.End
	c.Machine.End = func(a grid.AttemptID, class string, i int) Ending {
		if x := splitmix(seed ^ uint64(a.Task.Index)<<40 ^ uint64(a.Epoch)<<20 ^ uint64(a.N)); x%2 == 0 {
			return Ending{Exit: int32(1 + x>>8%3)}
		}
		return end(a, class, i)
	}
	for k := range c.Work {
		s := *c.Work[k].Spec
		c.Work[k].Spec = &s
		if r.IntN(3) == 0 {
			s.Rules.MaxRunning = int32(1 + r.IntN(3))
		}
		if r.IntN(4) == 0 {
			s.Rules.MaxFailures = int32(1 + r.IntN(3))
		}
		if r.IntN(4) == 0 {
			continue
		}
		f := &s.Rules.OnFailure
		*f = grid.OnFailure{Retry: int32(1 + r.IntN(4)), Backoff: time.Duration(r.IntN(4)) * time.Second,
			Rerun: s.Retries == 0}
		if r.IntN(3) == 0 {
			f.Codes = []int32{1, 3}
		}
	}
}

// addGangs makes jobs of a third of the worlds gangs: half of the jobs there, and in half of these worlds several gangs
// of different nodes come at about the same time. The workers of a third of them are searched for.
func addGangs(seed uint64, c *Config) {
	r := grid.NewRand(seed, 84)
	if r.IntN(3) > 0 {
		return
	}
	together := r.IntN(2) == 0
	for k := range c.Work {
		s := &c.Work[k]
		if r.IntN(2) == 0 || len(s.After) > 0 {
			continue
		}
		spec := *s.Spec
		spec.Count = uint32(2 + r.IntN(5))
		spec.Gang.Ranks, spec.Rules, spec.Idempotent, spec.Policy = spec.Count, grid.Rules{}, false, ""
		if r.IntN(3) == 0 {
			spec.Gang.Search = &grid.ScheduleSearch{Model: "life",
				Parameters: []grid.Parameter{{Name: "n", Value: float64(10 + r.IntN(2000))}}, Conserve: r.Float64() / 4}
		}
		s.Spec, s.CancelTask, s.RetryTask = &spec, 0, 0
		if together && k > 0 && s.Cancel == 0 {
			s.At = min(s.At, c.Work[k-1].At+time.Duration(r.Int64N(int64(100*time.Millisecond))))
		}
	}
}

// addGangSizes lets the attempts of a third of the gangs have different numbers of ranks.
func addGangSizes(seed uint64, c *Config) {
	r, other := grid.NewRand(seed, 87), c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.Labels = append(n.Labels, grid.Label{Key: grid.GangSizeLabel, Value: grid.FeatureValue})
	}
	for k := range c.Work {
		if s := *c.Work[k].Spec; s.IsGang() && r.IntN(3) == 0 {
			s.Gang.Min = 1 + uint32(r.IntN(int(s.Gang.Ranks)-1))
			s.Needs.Labels = slices.Clone(s.Needs.Labels)
			s.Needs.AddFeature(grid.GangSizeLabel)
			c.Work[k].Spec = &s
		}
	}
}

// addSuspensions has tasks that bid more suspend others in worlds where the rule of the nodes goes by bids.
func addSuspensions(seed uint64, c *Config) {
	other := c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		if n.Order.Preempt = float64(splitmix(seed^0x73757370) % 4); n.Order.Check() != nil { // 0 is never
			n.Order.Preempt = 0
		}
	}
}

// addBids has jobs of half of the worlds bid for their tasks, and nodes order what waits by any of the rules, in half
// of these worlds each by one of its own; bids age fast.
func addBids(seed uint64, c *Config) {
	r := grid.NewRand(seed, 85)
	if r.IntN(2) == 0 {
		return
	}
	each, rules, other := r.IntN(2) == 0, order.Names(), c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		x := splitmix(seed ^ 0x6f7264)
		if each {
			x = splitmix(x + uint64(i))
		}
		n.Order = order.Defaults()
		n.Order.Rule, n.Order.Ageing = rules[x%uint64(len(rules))], time.Duration(1+x>>8%60)*time.Second
	}
	for k := range c.Work {
		spec := *c.Work[k].Spec
		if spec.Rules.Bid = grid.Bid(1 + r.IntN(5000)); r.IntN(2) == 0 {
			spec.Rules.Bid = 1000 * grid.Bid(r.IntN(3))
		}
		c.Work[k].Spec = &spec
	}
}

// addDeadlines has half of the jobs of a third of the worlds have a deadline, hard or soft.
func addDeadlines(seed uint64, c *Config) {
	r := grid.NewRand(seed, 86)
	changeSome(r, c, func(spec *grid.JobSpec) {
		d := &spec.Rules.Deadline
		d.At = time.Second + time.Duration(r.Int64N(int64(90*time.Second)))
		if r.IntN(2) == 0 {
			d.Worthless = d.At + 1 + time.Duration(r.Int64N(int64(90*time.Second)))
		}
	})
}

// addOrder has jobs of a third of the worlds wait for earlier ones: for one or two of them, which may have failed, been
// cancelled or never come to be, and in half of the worlds task by task where the counts allow it.
func addOrder(seed uint64, c *Config) {
	r := grid.NewRand(seed, 83)
	if r.IntN(3) > 0 {
		return
	}
	pipelines, other := r.IntN(2) == 0, c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.Labels = append(n.Labels, grid.Label{Key: grid.JobInputsLabel, Value: grid.FeatureValue})
	}
	for k := 1; k < len(c.Work); k++ {
		s := &c.Work[k]
		if r.IntN(3) == 0 {
			continue
		}
		on := r.IntN(k)
		x := After{On: on, Kind: grid.AfterKind(r.IntN(2))}
		if pipelines && r.IntN(2) == 0 {
			spec := *s.Spec
			spec.Count = c.Work[on].Spec.Count
			s.Spec, x.Kind = &spec, grid.AfterEach
		}
		if len(c.Work[on].Spec.Outputs) > 0 && r.IntN(2) == 0 {
			x.Path = "out"
		}
		s.After = append(s.After, x)
		if second := r.IntN(k); second != on && r.IntN(3) == 0 {
			s.After = append(s.After, After{On: second, Kind: grid.AfterAny})
		}
	}
}

// addCheckpoints has tasks of a third of the worlds close checkpoints, most of them several while they run. Jobs there
// are run again more often, and in half of these worlds nodes keep few.
func addCheckpoints(seed uint64, c *Config) {
	r := grid.NewRand(seed, 88)
	if r.IntN(3) > 0 {
		return
	}
	small, other := r.IntN(2) == 0, c.Node
	if small {
		c.Node = func(i int, n *node.Config) {
			other(i, n)
			n.DepositQuota = min(n.DepositQuota, grid.Bytes(1+splitmix(seed+uint64(i))%20)*256*grid.KiB)
		}
	}
	for k := range c.Work {
		s := &c.Work[k]
		if r.IntN(4) == 0 {
			continue
		}
		s.Checkpoint = time.Duration(20+r.IntN(500)) * time.Millisecond
		if spec := *s.Spec; spec.Retries == 0 && r.IntN(2) == 0 && spec.Rules.OnFailure.Retry == 0 {
			spec.Retries = int32(1 + r.IntN(3))
			s.Spec = &spec
		}
	}
}

// addMarket has jobs placed by owners that go by bids and prices, in a sixth of the worlds, and in half of these nodes
// that ask prices.
func addMarket(seed uint64, c *Config) {
	r := grid.NewRand(seed, 87)
	if r.IntN(6) > 0 {
		return
	}
	policies := [...]string{"cda", "cda_res:0.1", "cda_tdb", "pda:2", "rr", "psp", "hbp", "hbp_t:2", "hbp_res"}
	prices, other := r.IntN(2) == 0, c.Node
	c.Conserves, c.Hindsight = false, false // prices and auctions keep tasks from idle nodes, for a while
	c.Node = func(i int, n *node.Config) {
		if other(i, n); prices && n.Policy != "local" {
			n.Policy = "cda_res"
		}
	}
	for k := range c.Work {
		if s := c.Work[k].Spec; s.Policy == "" && !s.IsGang() && r.IntN(2) == 0 {
			spec := *s
			spec.Policy = policies[r.IntN(len(policies))]
			c.Work[k].Spec = &spec
		}
	}
}

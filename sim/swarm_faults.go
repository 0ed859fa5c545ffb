package sim

import (
	"cmp"
	"slices"
	"time"

	"skep/balance"
	"skep/balance/order"
	"skep/grid"
	"skep/node"
	"skep/sim/oracle"
)

// addHardFaults adds harder faults to a world of the swarm: paused processes, disks that stall, are slow or full, more
// lost nodes, cuts that stay unnoticed for long, and clients that retry a cancellation.
func addHardFaults(seed uint64, c *Config) {
	r := grid.NewRand(seed, 79)
	when := func() time.Duration { return time.Duration(r.Int64N(int64(time.Minute))) }
	some := func() []int { return r.Perm(c.Nodes)[:1+r.IntN(max(c.Nodes/2, 1))] }
	for range r.IntN(5) {
		at := when()
		most := min(time.Minute-at, 20*time.Second).Seconds()
		switch r.IntN(4) {
		case 0, 1:
			c.Faults = append(c.Faults, Fault{At: at, Kind: Pause, Nodes: some(), Factor: most * r.Float64()})
		case 2:
			c.Faults = append(c.Faults, Fault{At: at, Kind: Stall, Nodes: some(), Factor: most * r.Float64()})
		case 3:
			nodes := some()
			c.Faults = append(c.Faults, Fault{At: at, Kind: Full, Nodes: nodes, Factor: 1},
				Fault{At: max(at, when()), Kind: Full, Nodes: nodes})
		}
	}
	for most := 2 + membersOf(seed)%5; c.Nodes > 2 && r.IntN(most) == 0; { // sometimes a majority is lost then
		c.Faults = append(c.Faults, Fault{At: when(), Kind: Lose, Nodes: []int{r.IntN(c.Nodes)}})
	}
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	if r.IntN(3) == 0 {
		c.Disk.Slow = func(i int) float64 { return 1 + float64(splitmix(seed+uint64(i)<<8)%50) }
	}
	c.Network.Jitter = []time.Duration{0, 0, time.Second}[r.IntN(3)]
	c.Network.Timeout = []time.Duration{0, 4 * time.Second, 40 * time.Second}[r.IntN(3)]
	for k := range c.Work {
		if s := &c.Work[k]; s.Cancel == 0 && r.IntN(8) == 0 {
			s.Cancel = s.At + time.Duration(r.Int64N(int64(20*time.Second)))
		}
		c.Work[k].RetryCancel = r.IntN(2) == 0
	}
}

// addSharedMachines lets other users take cores for a while: they leave some nodes a part, often a small one, and
// release the cores again.
func addSharedMachines(seed uint64, c *Config) {
	r := grid.NewRand(seed, 80)
	when := func() time.Duration { return time.Duration(r.Int64N(int64(time.Minute))) }
	for range r.IntN(4) {
		f := Fault{At: when(), Kind: Share, Nodes: r.Perm(c.Nodes)[:1+r.IntN(c.Nodes)]}
		end := max(f.At, when())
		for range 1 + r.IntN(4) { // the share changes meanwhile
			x := r.Float64()
			f.Factor = 0.01 + 0.99*x*x
			c.Faults = append(c.Faults, f)
			f.At += time.Duration(r.Int64N(int64(end-f.At) + 1))
		}
		c.Faults = append(c.Faults, Fault{At: end, Kind: Share, Nodes: f.Nodes, Factor: 1})
	}
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}

// addSharing has tasks share the cores of every second node in a third of the worlds with bids and without gangs, which
// such nodes refuse.
func addSharing(seed uint64, c *Config) {
	x := splitmix(seed ^ 0x7368617265)
	if x%3 > 0 || slices.ContainsFunc(c.Work, func(s Submission) bool { return s.Spec.IsGang() }) {
		return
	}
	least, other := [...]float64{grid.MinLeastSpeed, 0.2, 0.5, 1}[x>>8%4], c.Node
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		if i%2 == 0 && n.Order.MaxBid > 0 && n.Order.Preempt == 0 {
			n.Order.LeastSpeed = least
		}
	}
}

// addMoves has gangs move in a fifth of the worlds.
func addMoves(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 89); r.IntN(5) == 0 {
		slowGangs(seed, r, c)
	}
}

// addMigrations has nodes suspend tasks for higher bids in a sixth of the worlds, and give up what they have suspended,
// or what runs under a policy that has such tasks move too. Tasks there take long, and close checkpoints; some jobs may
// run at most once.
func addMigrations(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 90); r.IntN(6) == 0 {
		migrate(seed, r, c)
	}
}

func migrate(seed uint64, r *grid.Rand, c *Config) {
	other, rate := c.Node, c.Machine.Rate
	factor := float64(1 + r.IntN(2))
	c.Conserves, c.Hindsight = false, false // what is suspended for a bid is not looked for elsewhere at once
	c.Node = func(i int, n *node.Config) {
		if other(i, n); n.Order.LeastSpeed == 0 {
			n.Order = order.Defaults()
			n.Order.Preempt, n.Order.Moves, n.Order.Ageing = factor, splitmix(seed^0x6d6f7665+uint64(i))%5 > 0, time.Minute
		}
	}
	c.Machine.Rate = func(class string, i int) float64 {
		if class == "mesh" { // slowGangs has them take long already
			return rate(class, i)
		}
		return rate(class, i) / 4
	}
	for k := range c.Work {
		s := &c.Work[k]
		spec := *s.Spec
		if spec.IsGang() {
			continue
		}
		spec.Rules.Bid = grid.Bid(200 + r.IntN(8000))
		spec.Retries = []int32{0, 1, 3, 1000}[r.IntN(4)]
		if spec.Idempotent = spec.Idempotent && spec.Retries > 0; !spec.Idempotent {
			spec.Rules.Reliability = grid.ReliabilityRetries
		}
		if policies := [...]string{"", "pe_p", "pe_a", "pe_t:2", ""}; spec.Policy == "" || balance.Trades(spec.Policy) {
			spec.Policy = policies[r.IntN(len(policies))]
		}
		s.Spec, s.Checkpoint, s.Tells = &spec, time.Duration(100+r.IntN(2000))*time.Millisecond, r.IntN(2) == 0
	}
}

// slowGangs has two jobs be gangs that run for long, whose nodes are searched for, and that say how far they are: 20 to
// 80 s on nodes that are about as fast as the search believes. While they run, other users take most cores of half of
// the nodes, more than once, so that a gang has reasons to move. Some may run at most once or not move, and some
// promise what they cannot keep. In two thirds of the worlds the registers count the moves.
func slowGangs(seed uint64, r *grid.Rand, c *Config) {
	other := c.Machine.Rate
	c.Machine.Rate = func(class string, i int) float64 {
		if class == "mesh" {
			return 0.9 + float64(splitmix(seed+uint64(i)<<16)%20)/100
		}
		return other(class, i)
	}
	for range 2 {
		s := &c.Work[r.IntN(len(c.Work))]
		if len(s.After) > 0 {
			continue
		}
		spec := *s.Spec
		spec.Count = uint32(2 + r.IntN(3))
		spec.Gang = grid.Gang{Ranks: spec.Count}
		spec.Rules, spec.Idempotent, spec.Policy = grid.Rules{Bid: spec.Rules.Bid}, false, ""
		spec.Retries = []int32{0, 1, 2, 5, 1000}[r.IntN(5)]
		spec.Class, spec.Needs.CPU = "mesh", grid.CPU
		s.Size, s.Tells = 20+60*r.Float64(), true
		s.Checkpoint = time.Duration(200+r.IntN(2000)) * time.Millisecond
		s.CancelTask, s.RetryTask = 0, 0
		const side, core = 1000, 3e9 // points of the mesh, and the work of a core in a second, as the search takes it
		cost := s.Size / oracle.Parts * float64(spec.Count) * core / (side * side)
		spec.Gang.Search = &grid.ScheduleSearch{Model: "life", Parameters: []grid.Parameter{{Name: "n", Value: side},
			{Name: "point_cost", Value: cost}}}
		if r.IntN(4) > 0 {
			spec.Gang.Search.Contract = &grid.Contract{Tolerance: r.Float64(), Window: uint32(1 + r.IntN(3)),
				Moves: uint32(r.IntN(4))}
		}
		spec.Gang.Search.CountsMoves = seed%3 > 0
		s.Spec = &spec
		for range 1 + r.IntN(4) {
			f := Fault{At: s.At + time.Duration(r.Int64N(int64(time.Minute))), Kind: Share,
				Nodes: r.Perm(c.Nodes)[:1+r.IntN(max(c.Nodes/2, 1))], Factor: 0.05 + 0.4*r.Float64()}
			back := f
			back.At, back.Factor = f.At+20*time.Second+time.Duration(r.Int64N(int64(time.Minute))), 1
			c.Faults = append(c.Faults, f, back)
		}
	}
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}

// addReallocations has most nodes of a tenth of the worlds allocate their cores anew, every few seconds and as tasks
// come.
func addReallocations(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 98); r.IntN(10) == 0 {
		reallocate(seed, r, c)
	}
}

func reallocate(seed uint64, r *grid.Rand, c *Config) {
	other, x := c.Node, order.Config{}.Reallocate
	x.Every = time.Second + time.Duration(r.Int64N(int64(9*time.Second)))
	x.Utility = [...]string{"", "um_p1", "credit:0.6"}[r.IntN(3)]
	if r.IntN(4) > 0 {
		x.Arrivals = time.Second + time.Duration(r.Int64N(int64(x.Every)))
	}
	c.Node = func(i int, n *node.Config) {
		if other(i, n); n.Order.LeastSpeed == 0 && splitmix(seed^0x7265616c+uint64(i))%5 > 0 {
			n.Order.Reallocate = x
		}
	}
}

// addBudgets has half of the jobs of a third of the worlds have a budget, which suffices for some.
func addBudgets(seed uint64, c *Config) {
	r := grid.NewRand(seed, 92)
	changeSome(r, c, func(spec *grid.JobSpec) {
		spec.Rules.Budget = 1 + grid.Budget(r.IntN(4*int(spec.Count)))
		if r.IntN(3) == 0 {
			spec.Rules.Budget *= 20
		}
	})
}

// changeSome changes the specs of half of the jobs of a third of the worlds.
func changeSome(r *grid.Rand, c *Config, change func(*grid.JobSpec)) {
	if r.IntN(3) > 0 {
		return
	}
	for k := range c.Work {
		if r.IntN(2) == 0 {
			continue
		}
		spec := *c.Work[k].Spec
		change(&spec)
		c.Work[k].Spec = &spec
	}
}

// addLossAndDrift adds the faults that registers tolerate: a node is lost for good, and clocks drift as far as is
// allowed.
func addLossAndDrift(r *grid.Rand, nodes int, faults []Fault) []Fault {
	when := func() time.Duration { return time.Duration(r.Int64N(int64(time.Minute))) }
	if nodes > 2 && r.IntN(2) == 0 {
		faults = append(faults, Fault{At: when(), Kind: Lose, Nodes: []int{r.IntN(nodes)}})
	}
	for range r.IntN(3) {
		faults = append(faults, Fault{At: when(), Kind: Drift, Nodes: []int{r.IntN(nodes)},
			Factor: float64(r.IntN(90_001) - 45_000)})
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	return faults
}

package net

import (
	"fmt"
	"slices"
	"strings"

	"skep/balance"
	"skep/discovery"
	"skep/grid"
	"skep/lpas"
	"skep/sim"
)

// Problem is an error in a scenario. Where is a path such as classes.short or workload.2, so that a reader of a
// scenario file can print the line.
type Problem struct{ Where, What string }

// Check returns all problems, and λ*, the factor by which all arrivals could grow until no allocation of the machines
// could keep up; 0 if not known. A λ* of 1 or less is a problem: no policy is stable there.
func (s *Scenario) Check() (problems []Problem, lambda float64) {
	bad := func(where, format string, args ...any) {
		problems = append(problems, Problem{where, fmt.Sprintf(format, args...)})
	}
	if n := s.nodes(); n < 1 || n > MaxNodes {
		bad("nodes", "%d nodes: want 1 to %d", n, MaxNodes)
	}
	if s.Replications < 1 || s.Replications > MaxReplications {
		bad("replications", "%d: want 1 to %d", s.Replications, MaxReplications)
	}
	if s.Start < 0 || s.Warmup < 0 || s.Time <= s.Start || s.Time <= s.Warmup {
		bad("time", "arrivals from start, %v, to time, %v, measured from warmup, %v: want time after both", s.Start, s.Time,
			s.Warmup)
	}
	if !slices.ContainsFunc(s.Groups, func(g Group) bool { return g.Hostile == 0 }) {
		bad("nodes", "all groups are hostile: want one that is not")
	}
	s.checkNetwork(bad)
	s.checkNames(bad)
	s.checkGiven(bad)
	s.checkFaults(bad)
	if _, err := balance.Make(s.Node.Policy, &s.Node.Balance, nil); err != nil {
		bad("policy", "%v", err)
	}
	c := s.Node
	c.Capacity, c.Speed = grid.Resources{CPU: grid.CPU}, 1
	if err := c.Check(); err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			section, what, cut := strings.Cut(line, ": ")
			if !cut {
				section, what = "node", line
			}
			bad(section, "%s", what)
		}
	}
	s.checkClasses(bad)
	s.checkGangs(bad)
	if len(problems) > 0 {
		return problems, 0
	}
	lambda = s.lambda()
	if lambda > 0 && lambda <= 1 {
		bad("workload",
			"the load cannot be stable: λ* is %.4g, so that even the best allocation keeps up with %.3g %% of what arrives: "+
				"want less work or more machines", lambda, 100*lambda)
	}
	return problems, lambda
}

func (s *Scenario) checkNetwork(bad func(where, format string, args ...any)) {
	n := &s.Network
	if n.World.Mesh && s.nodes() > 2000 {
		bad("network.mesh", "%d nodes all connected to each other: want at most 2000", s.nodes())
	}
	m := n.Matrix
	if m == nil {
		return
	}
	if len(m) != s.nodes() && len(m) != len(s.Groups) {
		bad("network.latency", "matrix of %d rows: want one for each of the %d groups, or of the %d nodes", len(m),
			len(s.Groups), s.nodes())
	}
	for i := range m {
		if len(m[i]) != len(m) {
			bad("network.latency", "matrix: row %d has %d columns: want %d, as many as rows", i+1, len(m[i]), len(m))
		}
	}
}

func (s *Scenario) checkNames(bad func(where, format string, args ...any)) {
	seen := make(map[string]bool, len(s.Groups))
	for i := range s.Groups {
		g := &s.Groups[i]
		if seen[g.Name] {
			bad(fmt.Sprint("nodes.", i), "name %q stands twice", g.Name)
		}
		seen[g.Name] = true
		for _, name := range sortedKeys(g.Rates) {
			if s.class(name) == nil {
				bad(fmt.Sprint("nodes.", i), "rates of %q: is no class", name)
			}
		}
	}
	if len(s.Streams) == 0 {
		bad("workload", "nothing arrives: want at least one stream")
	}
	tasks := 0.0
	for i := range s.Streams {
		st := &s.Streams[i]
		where := fmt.Sprint("workload.", i)
		if s.class(st.Class) == nil {
			bad(where, "class %q: is not among the classes", st.Class)
		}
		if len(st.User) > grid.MaxUser || !grid.Printable(st.User) {
			bad(where, "user %.200q: want printable text of at most %d bytes", st.User, grid.MaxUser)
		}
		for _, name := range st.From {
			if s.group(name) == nil {
				bad(where, "from %q: is no group", name)
			}
		}
		switch {
		case st.Once != 0 && (st.Rate > 0 || st.Trace != nil || st.On > 0 || st.Period > 0):
			bad(where, "once: want no rate, burst, diurnal or trace with it")
		case st.Once != 0 && !(st.Once > 0 && st.Once < s.Time):
			bad(where, "once at %v: want a time after the begin and before the end of arrivals, %v", st.Once, s.Time)
		case st.Once == 0 && st.Trace == nil && !(st.Rate > 0):
			bad(where, "rate %g: want more than 0, once, or a trace", st.Rate)
		}
		tasks += max(st.Rate*(s.Time-s.Start).Seconds(), float64(st.Tasks))
		for _, j := range st.Trace {
			tasks += float64(j.Tasks)
		}
	}
	if tasks > MaxTasks {
		bad("workload", "about %.3g tasks: want at most %d", tasks, MaxTasks)
	}
}

func (s *Scenario) group(name string) *Group {
	for i := range s.Groups {
		if s.Groups[i].Name == name {
			return &s.Groups[i]
		}
	}
	return nil
}

func (s *Scenario) checkClasses(bad func(where, format string, args ...any)) {
	for k := range s.Classes {
		c := &s.Classes[k]
		if err := c.spec(1).Check(); err != nil {
			bad("classes."+c.Name, "%v", err)
		}
		if most, bid := s.Node.Order.MaxBid, c.Terms.Bid[1]; most > 0 && bid > most {
			bad("classes."+c.Name, "priority %v: want at most %v, the max_bid of the nodes", bid, most)
		}
		if !slices.ContainsFunc(s.Groups, func(g Group) bool { return s.suits(&g, c) }) {
			bad("classes."+c.Name, "no machine can run it: want a group that has what it needs and a rate, or a mean")
		}
	}
}

// suits reports whether a node of the group can run a class.
func (s *Scenario) suits(g *Group, c *Class) bool {
	return g.rate(c) > 0 && s.fits(g, c)
}

// fits reports whether a node of the group meets the needs of a class.
func (s *Scenario) fits(g *Group, c *Class) bool {
	ad := grid.Ad{Name: g.Name, Capacity: g.resources(), Labels: s.labels(g), Engines: []string{grid.EngineProcess},
		Speed: g.Speed, Availability: 1, AdWork: grid.AdWork{Accept: g.Accept}}
	return discovery.Suits(c.spec(1), &ad) == grid.WhyNone
}

// lambda solves the allocation LP with a column for each group: its available cores, and what one of them completes of
// a class.
func (s *Scenario) lambda() float64 {
	p := lpas.Problem{Alpha: make([]float64, len(s.Classes)), Cap: make([]float64, len(s.Groups)),
		Mu: make([]float64, len(s.Classes)*len(s.Groups))}
	for i := range s.Streams {
		st := &s.Streams[i]
		k := slices.IndexFunc(s.Classes, func(c Class) bool { return c.Name == st.Class })
		p.Alpha[k] += s.load(st)
	}
	for g := range s.Groups {
		group := &s.Groups[g]
		if left, up := group.available(); group.Hostile == 0 {
			p.Cap[g] = float64(group.Count) * group.Cores * left * up
		}
	}
	for k := range s.Classes {
		c := &s.Classes[k]
		for g := range s.Groups {
			if s.suits(&s.Groups[g], c) {
				p.Mu[k*len(s.Groups)+g] = s.Groups[g].perCore(c)
			}
		}
	}
	var sol lpas.Solution
	lpas.Vertex(&p, new(lpas.Basis), new(lpas.Workspace), &sol)
	if sol.Status == lpas.NoDemand {
		return 0
	}
	return sol.Lambda
}

// world returns the configuration of a run.
func (s *Scenario) world(seed uint64) sim.Config {
	bounds := s.bounds()
	specs := map[string]*Class{}
	sizes := map[string]sim.Distribution{}
	for k := range s.Classes {
		c := &s.Classes[k]
		specs[c.Name] = c
		if c.Size != nil {
			sizes[c.Name] = c.Size
		}
	}
	w := sim.Config{Seed: seed, Nodes: s.nodes(), Network: s.Network.World, Disk: sim.Disk{Sync: s.Sync},
		Work: s.Arrivals(seed), Faults: s.faults(seed), Spread: s.Spread,
		Drawn: sim.Drawn{Repeat: fmt.Sprintf("skep sim net FILE --seed %d --replications 1", seed)},
		Machine: sim.Machine{Sizes: sizes, Bandwidth: s.Files, Overhead: s.Overhead, Rate: func(class string, i int) float64 {
			c := specs[class]
			if c == nil {
				return 0
			}
			return s.Groups[groupOf(bounds, i)].rate(c)
		}}}
	w.Machine.End, w.Machine.Parallel = s.ends(seed), s.parallel(bounds)
	w.NoDigest = s.NoDigest
	if s.Unchecked {
		w.Check = sim.CheckNothing
	}
	w.Bound = s.bound(&w)
	w.Hindsight = s.measuresRegret(w.Work)
	if s.Node.Members > 1 && len(w.Faults) > 0 { // a member that came back late has yet to hear how its jobs ended
		w.Rest = 5 * s.Node.Lease
	}
	w.Network.Latency = s.latency(seed)
	w.Node = s.configure(bounds)
	w.Available = func(i int) (left, up float64) { return s.Groups[groupOf(bounds, i)].available() }
	w.Hostile = func(i int) sim.Behaviour { return s.Groups[groupOf(bounds, i)].Hostile }
	return w
}

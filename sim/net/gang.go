package net

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"skep/gang/model"
	"skep/grid"
	"skep/node/schedule"
	"skep/sim"
	"skep/sim/mesh"
)

// Gang is what the jobs of a stream are instead of tasks: ranks that start together and execute a mesh program, which
// the model describes to the search for their nodes, too.
type Gang struct {
	Ranks      int
	Iterations int
	Model      string             // life or jacobi
	Parameters map[string]float64 // those that the model has, all of them
	Mapper     string             // "" = the default
	Conserve   float64            // as in grid.ScheduleSearch
	OneSite    bool
}

// Models lists those whose programs are simulated.
var Models = []string{"jacobi", "life"}

// Strategies are how the owners of all gangs choose nodes and divide the work, from least known to most:
//
//	user     as a person does: few nodes, the nearest first, equal shares
//	basic    by a search that knows of memory alone, equal shares
//	static   by the model, and what a node is: the speed of its cores
//	dynamic  by the model, the speed, and what other users leave of it at that moment
//
// "" is what nodes do: by the model, with what each node's last ad says that other users leave.
var Strategies = []string{"user", "basic", "static", "dynamic"}

// maxIterations bounds the iterations of a gang.
const maxIterations = 1_000_000

// complete checks a gang, and adds the parameters of its model that have their defaults.
func (g *Gang) complete() error {
	if !slices.Contains(Models, g.Model) {
		return fmt.Errorf("model %.80q: is not simulated: want one of %v", g.Model, Models)
	}
	if _, err := model.New(g.Model, g.Parameters, nil); err != nil {
		return err
	}
	all := map[string]float64{}
	for _, p := range model.Parameters(g.Model) {
		all[p.Name] = p.Default
	}
	maps.Copy(all, g.Parameters)
	g.Parameters = all
	return nil
}

// program is what the ranks execute.
func (g *Gang) program() mesh.Program {
	p := mesh.Program{N: int(g.Parameters["n"]), PointCost: g.Parameters["point_cost"],
		ValueBytes: g.Parameters["value_bytes"]}
	if g.Model == "jacobi" {
		p.Broadcasts, p.Eager = true, true
	}
	return p
}

// work is what a rank computes with an equal share, in seconds on the reference.
func (g *Gang) work() float64 {
	n := g.Parameters["n"]
	return float64(g.Iterations) * g.Parameters["point_cost"] * n * n / float64(g.Ranks) / schedule.ReferenceWork
}

// search is by what the nodes of the ranks are chosen.
func (g *Gang) search(strategy string) *grid.ScheduleSearch {
	x := &grid.ScheduleSearch{Model: g.Model, Mapper: g.Mapper, Conserve: g.Conserve, OneSite: g.OneSite}
	told := g.Parameters
	switch strategy {
	case "user":
		return nil
	case "basic":
		n := g.Parameters["n"]
		x.Model, x.Mapper = "memory", ""
		told = map[string]float64{"units": n, "unit_memory": n * g.Parameters["point_memory"],
			"margin": g.Parameters["margin"]}
	}
	for _, name := range sortedKeys(told) {
		x.Parameters = append(x.Parameters, grid.Parameter{Name: name, Value: told[name]})
	}
	return x
}

// spec returns the job of a stream.
func (s *Scenario) spec(st *Stream, c *Class, tasks uint32) *grid.JobSpec {
	spec := c.spec(tasks)
	spec.Submitter.User = st.User
	if st.Gang != nil {
		spec.Gang = grid.Gang{Ranks: tasks, Search: st.Gang.search(s.Strategy)}
	}
	return spec
}

// gangs returns the gang of each class that has one.
func (s *Scenario) gangs() map[string]*Gang {
	all := map[string]*Gang{}
	for k := range s.Streams {
		if g := s.Streams[k].Gang; g != nil {
			all[s.Streams[k].Class] = g
		}
	}
	return all
}

// checkGangs checks what gangs need of the scenario.
func (s *Scenario) checkGangs(bad func(where, format string, args ...any)) {
	gangs := s.gangs()
	if s.Strategy != "" && len(gangs) == 0 {
		bad("workload", "%s is a strategy for gangs: want a stream with one", s.Strategy)
	}
	seen := map[string]bool{}
	for k := range s.Streams {
		st := &s.Streams[k]
		where := fmt.Sprint("workload.", k)
		if gangs[st.Class] != nil && seen[st.Class] {
			bad(where, "class %q: is that of a gang and of another stream: want a class for each gang", st.Class)
		}
		seen[st.Class] = true
		if st.Gang == nil {
			continue
		}
		if st.Trace != nil {
			bad(where, "trace: want none with a gang, whose model says how long it runs")
		}
		if c := s.class(st.Class); c != nil {
			if err := s.spec(st, c, st.Tasks).Check(); err != nil {
				bad(where, "%v", err)
			}
			if free := s.slots(c); free < st.Gang.Ranks {
				bad(where, "gang of %d ranks: all nodes together have slots for %d", st.Gang.Ranks, free)
			}
		}
	}
}

// slots is how many tasks of a class all nodes that fit run at a time.
func (s *Scenario) slots(c *Class) (n int) {
	for k := range s.Groups {
		if g := &s.Groups[k]; g.Hostile == 0 && s.suits(g, c) {
			n += g.Count * g.resources().Slots(c.Needs.Resources, grid.MaxRanks)
		}
	}
	return n
}

// parallel is what the ranks of all gangs execute, and their network: each node has a port for what it sends and one
// for what it receives, and each site a link for what leaves it and one for what comes; nil = there are no gangs.
func (s *Scenario) parallel(bounds []int) *sim.Parallel {
	gangs := s.gangs()
	if len(gangs) == 0 {
		return nil
	}
	p := &sim.Parallel{Program: func(class string) (mesh.Program, int) {
		if g := gangs[class]; g != nil {
			return g.program(), g.Iterations
		}
		return mesh.Program{}, 0
	}}
	port := float64(cmp.Or(s.Network.Port, schedule.SiteBandwidth))
	uplink := float64(cmp.Or(s.Network.Uplink, schedule.FarBandwidth))
	var sites []string
	var site []int
	for i := range s.nodes() {
		g := &s.Groups[groupOf(bounds, i)]
		p.Speed = append(p.Speed, g.Speed*schedule.ReferenceWork)
		own := float64(cmp.Or(g.Port, grid.Bytes(port)))
		p.Capacity, p.Files = append(p.Capacity, own, own), p.Files || g.Port > 0
		if !slices.Contains(sites, g.Site) {
			sites = append(sites, g.Site)
		}
		site = append(site, slices.Index(sites, g.Site))
	}
	links := len(p.Capacity)
	for range sites {
		p.Capacity = append(p.Capacity, uplink, uplink)
	}
	p.Path = func(from, to int) []int {
		a, b := site[from], site[to]
		if a == b {
			return []int{2 * from, 2*to + 1}
		}
		return []int{2 * from, links + 2*a, links + 2*b + 1, 2*to + 1}
	}
	return p
}

// facts is what the owners of gangs take the last ad of a node for, by the strategy; nil = for what it is.
func (s *Scenario) facts(truth func(grid.NodeID) *grid.Ad) func(*grid.Ad) *grid.Ad {
	switch s.Strategy {
	case "static":
		return func(ad *grid.Ad) *grid.Ad {
			x := *ad
			x.Availability = 1
			return &x
		}
	case "dynamic":
		return func(ad *grid.Ad) *grid.Ad {
			if now := truth(ad.Node); now != nil {
				return now
			}
			return ad
		}
	}
	return nil
}

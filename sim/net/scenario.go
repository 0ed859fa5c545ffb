package net

import (
	"slices"
	"time"

	"skep/grid"
	"skep/node"
	"skep/requirement"
	"skep/sim"
	"skep/sim/net/worth"
)

// Scenario is a grid and what happens in it. Times are since the world began.
type Scenario struct {
	Name         string
	Seed         uint64
	Replications int           // 1 to MaxReplications
	Start        time.Duration // when the first tasks may arrive: until then the nodes find each other
	Warmup       time.Duration // tasks submitted before are not measured
	Time         time.Duration // end of arrivals; the run continues until everything has ended
	Spread       time.Duration // time over which the nodes start, evenly

	Groups  []Group
	Classes []Class
	Network Network
	Node    node.Config // every setting of a node, except those of its group
	Given   bool        // nodes are given the scenario's rates, and measure none
	Perfect bool        // at each decision, nodes know the current state of connected nodes, whatever the rule
	Streams []Stream
	Faults  []Fault
	Files   grid.Bytes // bytes of files transferred in a second; 0 = 100 MiB
	Costs

	Strategy string // of gangs: one of Strategies, or ""

	Omitted

	Obsolete []string // knobs in the file that have no effect any more, as in gossip.theta
}

// Costs are what a machine takes for a task beside its run time.
type Costs struct {
	Sync     time.Duration // of the disk
	Overhead time.Duration // from a task's start to its program's first instruction; 0 = 1 ms
}

// Omitted is what a run goes without, to be faster.
type Omitted struct {
	NoDigest  bool // of events and effects: it is not compared with others
	Unchecked bool // records, messages and offers are not checked; that every task ends is
}

// Bounds of a scenario.
const (
	MaxReplications = 1000
	MaxNodes        = 1_000_000
	MaxTasks        = 50_000_000
	MaxSessions     = 5_000_000
)

// Group is a number of equal machines.
type Group struct {
	Name   string
	Count  int
	Cores  float64
	Memory grid.Bytes
	Counts grid.Counts        // counted resources
	Speed  float64            // of a core relative to the reference
	Rates  map[string]float64 // tasks of mean size that a slot completes in a second; without an entry, Speed/Class.Mean
	Labels []grid.Label
	Up     Span       // length of a session; zero = for ever
	Down   Span       // time between sessions
	Leaves float64    // share of sessions that end with a farewell instead of a crash
	Left   float64    // share of the cores that other users leave, until a fault changes it; 0 = all
	Load   Load       // of other users, which comes and goes
	Port   grid.Bytes // bytes a second of a node's port for messages of ranks; 0 = Network.Port. Files take it then, too
	Site   string     // groups of one name share a link to the others, for messages of ranks

	Accept *requirement.Expression // what its nodes require of jobs; nil = nothing

	// Hostile is how the group's nodes violate the protocol; 0 = not. They submit only where a stream names their
	// group, and do not count for λ*.
	Hostile sim.Behaviour
}

// Load is other users of a node: for an exponential time they leave Left of its cores, then for one as much as they
// usually do. Zero = there are none but those.
type Load struct {
	Left       float64
	Busy, Free time.Duration // mean lengths
}

// Class is a kind of task.
type Class struct {
	Name    string
	Mean    time.Duration // run time on a slot of the reference; 0 = only where a group has a rate
	Size    sim.Distribution
	Needs   grid.Needs
	Retries int32
	Inputs  grid.Bytes // of a task, cached by nodes that had them

	Failing Failing

	Idempotent bool // tasks may run twice at once: policies with copies may start a second one

	// Checkpoint is after how long tasks write a checkpoint each time, from which an attempt goes on; 0 = they write none.
	Checkpoint time.Duration

	Reliability grid.Reliability // whether copies run beforehand, for attempts that may be lost

	Terms worth.Terms
	Rank  *requirement.Expression // of nodes, of those that are idle the highest first; nil = none
}

// Fault is applied at a time.
type Fault struct {
	At     time.Duration
	Kind   sim.FaultKind
	Nodes  []Pick
	Factor float64
}

// Pick selects nodes: of a group, or all; and of these a share or a range.
type Pick struct {
	Group    string  // "" = all
	Share    float64 // drawn at random; 0 = no share
	From, To int     // positions in the group, both included; −1 = all
}

// nodes returns the number of all nodes.
func (s *Scenario) nodes() int {
	n := 0
	for i := range s.Groups {
		n += s.Groups[i].Count
	}
	return n
}

// bounds returns the first index of each group, and the end.
func (s *Scenario) bounds() []int {
	b := make([]int, len(s.Groups)+1)
	for i := range s.Groups {
		b[i+1] = b[i] + s.Groups[i].Count
	}
	return b
}

// groupOf returns the group of a node, by bounds.
func groupOf(bounds []int, i int) int {
	lo, hi := 0, len(bounds)-2
	for lo < hi {
		if mid := (lo + hi + 1) / 2; bounds[mid] <= i {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// available returns the share of the cores that other users leave, and the share of time that a node is up.
func (g *Group) available() (left, up float64) {
	left, up = 1, 1
	if g.Left > 0 {
		left = g.Left
	}
	if l := g.Load; l.Left > 0 {
		left = (left*l.Free.Seconds() + min(left, l.Left)*l.Busy.Seconds()) / (l.Free + l.Busy).Seconds()
	}
	if g.Up.Kind != NoSpan {
		up = g.Up.mean().Seconds() / (g.Up.mean() + g.Down.mean()).Seconds()
	}
	return left, up
}

// class returns a class by its name.
func (s *Scenario) class(name string) *Class {
	for i := range s.Classes {
		if s.Classes[i].Name == name {
			return &s.Classes[i]
		}
	}
	return nil
}

// rate returns how many tasks of mean size of a class a slot completes in a second; 0 = it cannot.
func (g *Group) rate(c *Class) float64 {
	if r, ok := g.Rates[c.Name]; ok {
		return r
	}
	if c.Mean > 0 {
		return g.Speed / c.Mean.Seconds()
	}
	return 0
}

// spec returns a job of one or more tasks of a class.
func (c *Class) spec(tasks uint32) *grid.JobSpec {
	s := &grid.JobSpec{Class: c.Name, Engine: grid.EngineProcess, Command: []string{"task"}, Count: tasks,
		Retries: c.Retries, Needs: c.Needs, Idempotent: c.Idempotent,
		Rules: grid.Rules{OnFailure: c.Failing.Rule, Rank: c.Rank, Reliability: c.Reliability}}
	if c.Inputs > 0 {
		var id grid.BlobID
		copy(id[:], c.Name)
		s.Inputs = []grid.File{{Path: "input", Blob: id, Size: c.Inputs}}
	}
	return s
}

// labels returns the labels of a node of the group, without those of its platform.
func (s *Scenario) labels(g *Group) []grid.Label {
	labels := slices.Clone(g.Labels)
	if g.Counts != "" {
		labels = append(labels, grid.Label{Key: grid.ResourceLabel, Value: grid.FeatureValue})
	}
	if slices.ContainsFunc(s.Classes, func(c Class) bool { return c.Needs.Where != nil }) {
		labels = append(labels, grid.Label{Key: grid.RequirementLabel, Value: grid.FeatureValue})
	}
	return labels
}

// perCore returns how many tasks of mean size of a class a core completes in a second, all cores of a node together no
// more than there are counted resources for.
func (g *Group) perCore(c *Class) float64 {
	n := g.rate(c) / c.Needs.CPU.Cores()
	for kind, units := range c.Needs.Counts.All() {
		n = min(n, g.rate(c)*float64(g.Counts.Of(kind)/units)/g.Cores)
	}
	return n
}

// resources returns the capacity of a node of the group.
func (g *Group) resources() grid.Resources {
	return grid.Resources{CPU: grid.MilliCPU(g.Cores * float64(grid.CPU)), Memory: g.Memory,
		Counts: g.Counts}
}

package net

import (
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim"
)

// Scenario is a grid and what happens in it. Times are since the world began.
type Scenario struct {
	Name         string
	Seed         uint64
	Replications int           // 1 to MaxReplications
	Start        time.Duration // when the first tasks may come: until then the nodes find each other
	Warmup       time.Duration // what is submitted before is not measured
	Time         time.Duration // the end of arrivals; the run goes on until all has ended
	Spread       time.Duration // over which the nodes come up, evenly

	Groups  []Group
	Classes []Class
	Network Network
	Node    node.Config // every knob of a node, but for what the groups say
	Given   bool        // nodes are told their rates as the scenario has them, and measure none
	Perfect bool        // nodes know at each decision what those connected are now, whatever the rule
	Sync    time.Duration
	Streams []Stream
	Faults  []Fault
	Files   grid.Bytes // of files that come in a second; 0 = 100 MiB
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
	Speed  float64            // of a core against the reference
	Rates  map[string]float64 // tasks of mean size that a slot ends in a second; where not said, Speed/Class.Mean
	Labels []grid.Label
	Up     Span    // how long a node stays; zero = for ever
	Down   Span    // how long it is away
	Leaves float64 // share of sessions that end with a farewell and not in a crash
	Left   float64 // share of the cores that others leave, until a fault says otherwise; 0 = all

	// Hostile is what the group's nodes do against the rest; 0 = nothing. They submit only where a stream names
	// their group, and are not counted into λ*.
	Hostile sim.Behaviour
}

// Class is a kind of task.
type Class struct {
	Name    string
	Mean    time.Duration // run time on a slot of the reference; 0 = only where a group says a rate
	Size    sim.Distribution
	Needs   grid.Needs
	Retries int32
	Inputs  grid.Bytes // that a task brings along, cached by who had them
}

// Fault strikes at a time.
type Fault struct {
	At     time.Duration
	Kind   sim.FaultKind
	Nodes  []Pick
	Factor float64
}

// Pick names some nodes: those of a group, or all, and of these a share or a range.
type Pick struct {
	Group    string  // "" = all
	Share    float64 // drawn at random; 0 = not
	From, To int     // positions in the group, both included; −1 = all
}

// nodes is the number of all nodes.
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

// groupOf returns the group of a node, by its bounds.
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

// available is the share of its cores that others leave, and up that of the time that it is there.
func (g *Group) available() (left, up float64) {
	left, up = 1, 1
	if g.Left > 0 {
		left = g.Left
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

// rate is how many tasks of mean size of a class a slot of a group ends in a second; 0 = it cannot.
func (g *Group) rate(c *Class) float64 {
	if r, ok := g.Rates[c.Name]; ok {
		return r
	}
	if c.Mean > 0 {
		return g.Speed / c.Mean.Seconds()
	}
	return 0
}

// spec is the job of one or more tasks of a class.
func (c *Class) spec(tasks uint32) *grid.JobSpec {
	s := &grid.JobSpec{Class: c.Name, Engine: grid.EngineProcess, Command: []string{"task"}, Count: tasks, Retries: c.Retries, Needs: c.Needs}
	if c.Inputs > 0 {
		var id grid.BlobID
		copy(id[:], c.Name)
		s.Inputs = []grid.File{{Path: "input", Blob: id, Size: c.Inputs}}
	}
	return s
}

// resources is what a node of the group has.
func (g *Group) resources() grid.Resources {
	return grid.Resources{CPU: grid.MilliCPU(g.Cores * float64(grid.CPU)), Memory: g.Memory}
}

package testnet

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"skep/grid"
)

// MaxNodes bounds a testnet: each node is a whole process.
const MaxNodes = 200

// Spec says what a testnet is like.
type Spec struct {
	Groups []Group `json:"groups"`

	// Links are at the most one for each group; a group without one has the network as it is.
	Links []Link `json:"links,omitempty"`

	// Shared is a folder of this machine that every node sees under the same path. Default: none.
	Shared string `json:"shared,omitempty"`
}

// Group is nodes that are alike. They are called by the group's name and a number from 1 on.
type Group struct {
	Name  string `json:"name"`
	Count int    `json:"count"`

	// CPUs is how many cores tasks may take, and the bound of all that a container takes where the machine has more.
	// Default: 1, without a bound for the container. More makes the node take more tasks at a time.
	CPUs float64 `json:"cpus,omitempty"`

	// Memory is how many bytes tasks may take; a container gets this and NodeMemory. Default: 256 MiB, without
	// a bound for the container.
	Memory int64 `json:"memory,omitempty"`

	Labels map[string]string `json:"labels,omitempty"`
}

// What a group has that says nothing, and what a container gets for the node itself beside the memory of tasks.
const (
	DefaultCPUs   = 1.0
	DefaultMemory = 256 << 20
	NodeMemory    = 256 << 20
)

// Link is how the nodes of a group are connected to all others.
type Link struct {
	Of string `json:"of"`
	Shape
}

// Shape is what the network does to everything that a node sends. The zero value does nothing.
type Shape struct {
	Latency time.Duration `json:"latency,omitempty"` // added to each packet, at most 10 s
	Loss    float64       `json:"loss,omitempty"`    // part of the packets that is lost, below 1
	Rate    int64         `json:"rate,omitempty"`    // bytes a second, at least 1 KiB; 0 is no bound
}

// Bounds of a shape.
const (
	MaxLatency = 10 * time.Second
	MinRate    = 1 << 10
	MaxRate    = 10 << 30
)

// Plain is a spec of n nodes that are alike.
func Plain(n int) Spec { return Spec{Groups: []Group{{Name: "n", Count: n}}} }

// Nodes returns how many nodes there are.
func (s *Spec) Nodes() (n int) {
	for _, g := range s.Groups {
		n += g.Count
	}
	return n
}

// GoodName tells whether a testnet, a group or a node can be called so.
var GoodName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`)

// Problem is something wrong with a spec, and where: "groups.1.count", "links.0.of".
type Problem struct{ Where, What string }

// Check returns everything that is wrong with s.
func (s *Spec) Check() (problems []Problem) {
	bad := func(where, format string, args ...any) {
		problems = append(problems, Problem{where, fmt.Sprintf(format, args...)})
	}
	names, groups := map[string]string{}, map[string]bool{}
	for i, g := range s.Groups {
		at := fmt.Sprint("groups.", i)
		if !GoodName.MatchString(g.Name) {
			bad(at+".name", "name %.40q: want a-z, then a-z, 0-9 and hyphens, at most 32", g.Name)
		} else if groups[g.Name] {
			bad(at+".name", "name %q stands twice", g.Name)
		}
		groups[g.Name] = true
		if g.Count < 1 || g.Count > MaxNodes {
			bad(at+".count", "count %d: want 1 to %d", g.Count, MaxNodes)
			continue
		}
		for _, n := range g.names() {
			if names[n] != "" && names[n] != g.Name {
				bad(at+".name", "name %q: its node %s is also one of group %s", g.Name, n, names[n])
				break
			}
			names[n] = g.Name
		}
		if g.CPUs < 0 || g.CPUs > grid.MaxMillis/1000 {
			bad(at+".cpus", "cpus %g: want more than 0 and at most %d", g.CPUs, grid.MaxMillis/1000)
		}
		if g.Memory < 0 || g.Memory > int64(grid.MaxMemory) {
			bad(at+".memory", "memory %d: want 0 to %d bytes", g.Memory, int64(grid.MaxMemory))
		}
		if err := checkLabels(g.Labels); err != nil {
			bad(at+".labels", "%v", err)
		}
	}
	if n := s.Nodes(); len(problems) == 0 && (n < 1 || n > MaxNodes) {
		bad("groups", "%d nodes: want 1 to %d", n, MaxNodes)
	}
	linked := map[string]bool{}
	for i, l := range s.Links {
		at := fmt.Sprint("links.", i)
		if !groups[l.Of] {
			bad(at+".of", "there is no group %.40q", l.Of)
		} else if linked[l.Of] {
			bad(at+".of", "group %q has a link already", l.Of)
		}
		linked[l.Of] = true
		for _, p := range l.Shape.Check() {
			bad(at+"."+p.Where, "%s", p.What)
		}
	}
	return problems
}

// checkLabels says what a node would say of its labels.
func checkLabels(labels map[string]string) error {
	ad := grid.Ad{Speed: 1, Capacity: grid.Resources{CPU: grid.CPU}}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		ad.Labels = append(ad.Labels, grid.Label{Key: k, Value: labels[k]})
	}
	return ad.Check()
}

// Check returns everything that is wrong with s.
func (s Shape) Check() (problems []Problem) {
	if s.Latency < 0 || s.Latency > MaxLatency {
		problems = append(problems, Problem{"latency", fmt.Sprintf("latency %v: want 0 to %v", s.Latency, MaxLatency)})
	}
	if !(s.Loss >= 0 && s.Loss < 1) {
		problems = append(problems, Problem{"loss", fmt.Sprintf("loss %g: want 0 or more and less than 1", s.Loss)})
	}
	if s.Rate != 0 && (s.Rate < MinRate || s.Rate > MaxRate) {
		problems = append(problems, Problem{"rate", fmt.Sprintf("rate %d: want %d to %d bytes a second", s.Rate, MinRate,
			int64(MaxRate))})
	}
	return problems
}

// names returns what the group's nodes are called.
func (g *Group) names() (names []string) {
	for i := range g.Count {
		names = append(names, fmt.Sprint(g.Name, i+1))
	}
	return names
}

// Check reports everything that is wrong with s as one error.
func (s *Spec) check() error {
	for _, p := range s.Check() {
		return fmt.Errorf("testnet: %s: %s", p.Where, p.What)
	}
	return nil
}

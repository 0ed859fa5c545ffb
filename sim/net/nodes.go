package net

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim"
)

// Bounds of the time that a world gets to end after its last submission and fault.
const (
	minBound = 24 * time.Hour
	maxBound = 100 * 365 * 24 * time.Hour
)

// bound is that time: so long that neither a queue nor a long task can be the reason that something has not ended.
func (s *Scenario) bound() time.Duration {
	longest := 0.0
	for k := range s.Classes {
		c := &s.Classes[k]
		size := 10_000.0 // of the mean: hardly any distribution goes so far
		for i := range s.Streams {
			if st := &s.Streams[i]; st.Class == c.Name {
				for _, j := range st.Trace {
					size = max(size, 100*j.Run.Seconds()/c.unit())
				}
			}
		}
		for g := range s.Groups {
			if s.suits(&s.Groups[g], c) {
				longest = max(longest, size/s.Groups[g].rate(c))
			}
		}
	}
	return max(minBound, grid.Seconds(min(max(100*s.Time.Seconds(), longest), maxBound.Seconds())))
}

// configure returns what shapes the nodes: the scenario's knobs, and what the node's group says.
func (s *Scenario) configure(bounds []int) func(i int, c *node.Config) {
	labels := make([][]grid.Label, len(s.Groups))
	for g := range s.Groups {
		labels[g] = slices.Clone(s.Groups[g].Labels)
		for _, l := range [...]grid.Label{{Key: "arch", Value: "amd64"}, {Key: "os", Value: "linux"}} {
			if !slices.ContainsFunc(labels[g], func(x grid.Label) bool { return x.Key == l.Key }) {
				labels[g] = append(labels[g], l)
			}
		}
		slices.SortFunc(labels[g], func(a, b grid.Label) int { return compareText(a.Key, b.Key) })
	}
	var given [][]grid.Rate
	if s.Given {
		given = s.given()
	}
	return func(i int, c *node.Config) {
		g := groupOf(bounds, i)
		group := &s.Groups[g]
		own := s.Node
		own.Name = fmt.Sprintf("%s-%d", group.Name, i-bounds[g])
		own.Capacity, own.Speed, own.Labels = group.resources(), group.Speed, labels[g]
		if s.Given {
			own.Given = given[g]
		}
		*c = own
	}
}

// truth is what a node that is up says of itself now.
func truth(w *sim.World, id grid.NodeID) *grid.Ad {
	j := w.Index(id)
	if j < 0 {
		return nil
	}
	if n, ok := w.Member(j).(*node.Node); ok {
		return n.Describe(w.Local(j))
	}
	return nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

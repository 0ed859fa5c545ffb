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

// bound is that time for a world: so long that neither a queue nor a long task can be the reason that something has not
// ended, and hardly longer, since only then is it seen that something never ends. It is a day, and twice, since what is
// struck runs again, the longest of the world's tasks and the queue before it: at most all the others, one after the
// other at the slowest, though in a large grid, where hardly all wait for one slot, a hundred times what it may hold of one.
func (s *Scenario) bound(w *sim.Config) time.Duration {
	slow, left := 1.0, 1.0
	for i := range w.Faults {
		switch f := &w.Faults[i]; f.Kind {
		case sim.Slow:
			slow = max(slow, f.Factor)
		case sim.Share:
			left = min(left, f.Factor)
		}
	}
	least := map[string]float64{} // rate of a class where it may run
	for k := range s.Classes {
		c := &s.Classes[k]
		for g := range s.Groups {
			group := &s.Groups[g]
			if have, _ := group.available(); s.suits(group, c) {
				if r, ok := least[c.Name]; !ok || group.rate(c)*min(have, left) < r {
					least[c.Name] = group.rate(c) * min(have, left)
				}
			}
		}
	}
	longest, all := 0.0, 0.0
	w.Sizes(func(class string, size float64) {
		if rate := least[class]; rate > 0 {
			longest = max(longest, size/rate*slow)
			all += size / rate * slow
		}
	})
	queue := min(all, 100*(s.Time.Seconds()+longest))
	return grid.Seconds(min(minBound.Seconds()+2*(longest+queue), maxBound.Seconds()))
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

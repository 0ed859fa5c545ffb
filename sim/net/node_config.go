package net

import (
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/node"
	"skep/sim"
)

// Bounds of sim.Config.Bound: the time for a world to end after its last submission and fault.
const (
	minBound = 24 * time.Hour
	maxBound = 100 * 365 * 24 * time.Hour
)

// bound returns that time: long enough that neither a queue nor a long task can be the reason that something has not
// ended, and hardly longer, so that what never ends is detected. It is a day, plus twice, since struck tasks run
// again, the longest task and the queue before it: at most all other tasks one after the other at the slowest rate,
// but no more than a hundred times the length of the run and of the longest task, since in a large grid hardly all
// tasks wait for one slot.
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
	least := map[string]float64{} // least rate of a class where it may run
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

// configure returns the function that configures a node: the scenario's settings, and those of the node's group.
func (s *Scenario) configure(bounds []int) func(i int, c *node.Config) {
	labels := make([][]grid.Label, len(s.Groups))
	for g := range s.Groups {
		labels[g] = s.labels(&s.Groups[g])
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
		own.Accept = group.Accept
		if s.Given {
			own.Given, own.Pull = given[g], false // what is given is no estimate: the theses do not pull
		}
		*c = own
	}
}

// truth returns the ad that a node that is up would publish now.
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

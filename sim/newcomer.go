package sim

import (
	"cmp"
	"slices"
	"time"

	"skep/grid"
	"skep/node"
)

// Nodes that join while the world goes on, and take the places of those that died for good.

// joinsLater reports whether a node starts first when a fault has it join.
func (c *Config) joinsLater(i int) bool {
	return slices.ContainsFunc(c.Faults, func(f Fault) bool { return f.Kind == Join && slices.Contains(f.Nodes, i) })
}

// join starts a node for the first time. Whoever set it up knew some nodes that are up.
func (w *World) join(i int32) {
	if w.hosts[i].boots > 0 {
		return
	}
	var up []int32
	for k := range w.hosts {
		if w.hosts[k].up && int32(k) != i {
			up = append(up, int32(k))
		}
	}
	w.rng.Shuffle(len(up), func(a, b int) { up[a], up[b] = up[b], up[a] })
	if !w.cfg.Network.Mesh {
		up = up[:min(len(up), w.cfg.Network.Join)]
	}
	for _, k := range up {
		w.addPersistent(i, k)
	}
	w.start(i)
}

// addReplacements has members of registers be replaced in a sixth of the worlds that have such.
func addReplacements(seed uint64, c *Config) {
	if r := grid.NewRand(seed, 99); membersOf(seed) > 1 && c.Nodes > 3 && r.IntN(6) == 0 {
		replaceSome(r, c)
	}
}

// replaceSome has members be replaced that are silent for a while, up to three nodes die for good one after the other,
// most of them later than that, and new ones join. Tasks take long, that registers live to see it.
func replaceSome(r *grid.Rand, c *Config) {
	after := []time.Duration{time.Second, 25 * time.Second, 40 * time.Second}[r.IntN(3)]
	other, rate, n := c.Node, c.Machine.Rate, c.Nodes
	c.Conserves, c.Hindsight = false, false // nobody is to find a node at once that has just joined
	c.Node = func(i int, n *node.Config) {
		other(i, n)
		n.ReplaceAfter, n.Bounds = after, nil
	}
	c.Machine.Rate = func(class string, i int) float64 { return rate(class, i) / 8 }
	die, at := r.Perm(n)[:1+r.IntN(min(3, n/2))], time.Duration(0)
	for k, i := range die {
		at += time.Duration(r.Int64N(int64(30 * time.Second)))
		join := at + time.Duration(r.Int64N(int64(40*time.Second)))
		c.Faults = append(c.Faults, Fault{At: at, Kind: Lose, Nodes: []int{i}},
			Fault{At: join, Kind: Join, Nodes: []int{n + k}})
		at += max(after, 20*time.Second)
	}
	c.Nodes += len(die)
	slices.SortStableFunc(c.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}

package gangs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"skep/grid"
)

// Chooser chooses workers for all ranks of a gang at once.
type Chooser interface {
	// Choose returns places for a number of ranks within the size, each of one need, none with more than rooms says of
	// that node.
	Choose(ranks Size, nodes []grid.GangNode, rooms []int) Choice
}

// Size is how many ranks an attempt may have.
type Size struct{ Min, Max int }

// Size returns how many ranks the next attempt may have. One that waits for slots to become free takes the fewest: more
// would be waited for longer.
func (g *Gang) Size(of *grid.Gang) Size {
	x := Size{int(of.Fewest()), int(of.Ranks)}
	if g.Later() {
		x.Max = x.Min
	}
	return x
}

// Choice is the workers that were chosen for the ranks of a gang.
type Choice struct {
	Places []Place // none = the nodes do not suffice
	Time   float64 // expected seconds of an iteration; 0 = nothing is expected
	Why    string  // what the choice rests on, or why there is none; "" = nothing is to be said
}

// Ranks is the number of ranks that have a place.
func (c *Choice) Ranks() (n uint32) {
	for _, p := range c.Places {
		n += p.Ranks
	}
	return n
}

// FewestNodes takes few nodes, and of those that do the near and the least loaded ones. It places as many ranks as
// there is room for.
type FewestNodes struct {
	// Later says that slots which become free are asked for. Of near nodes the same are taken by all owners then, so that
	// gangs follow each other there: the slots of a gang become free together, those of single tasks one by one.
	Later bool
}

// nearRTT is the round trip up to which nodes count as equally near where gangs follow each other.
const nearRTT = 20 * time.Millisecond

// Choose implements [Chooser]: the nearest node that has room for all that are left, else the one with most room.
func (f FewestNodes) Choose(size Size, nodes []grid.GangNode, rooms []int) (c Choice) {
	ranks := 0
	for _, n := range rooms {
		ranks = min(ranks+n, size.Max)
	}
	if ranks < size.Min {
		return c
	}
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if f.Later && max(nodes[a].RTT, nodes[b].RTT) <= nearRTT {
			return nodes[a].Node.Compare(nodes[b].Node)
		}
		return cmp.Or(cmp.Compare(nodes[a].RTT, nodes[b].RTT), cmp.Compare(nodes[a].Backlog, nodes[b].Backlog))
	})
	for ranks > 0 {
		best := -1
		for k, i := range order {
			if rooms[i] >= ranks {
				best = k
				break
			}
			if rooms[i] > 0 && (best < 0 || rooms[i] > rooms[order[best]]) {
				best = k
			}
		}
		if best < 0 {
			return Choice{}
		}
		n := min(ranks, rooms[order[best]])
		c.Places = append(c.Places, Place{Node: nodes[order[best]].Node, Ranks: uint32(n)})
		order = slices.Delete(order, best, best+1)
		ranks -= n
	}
	return c
}

// Rooms returns for how many ranks each node has slots, as far as is known: those that are free or, if the gang asks
// for later ones, all of the node's. could is the number of ranks for which all
// connected nodes together have slots, free or not.
func (g *Gang) Rooms(now grid.Time, ranks int, need grid.Resources, nodes []grid.GangNode) (rooms []int, could int) {
	for i := range nodes {
		n, most := &nodes[i], 0
		if !n.Refuses.Why.Never() && !slices.Contains(g.unfit, n.Node) {
			all := n.Capacity.Slots(need, ranks)
			if n.Refuses.Why != grid.WhyGone {
				could += all
			}
			switch room := g.RoomAt(now, n.Node); {
			// as for single tasks, a node where the class fails is used if no other is left
			case n.Refuses.Why != grid.WhyNone && !(n.Refuses.Why == grid.WhyAvoided && g.Later()):
			case g.Later():
				most = all
			case room >= 0:
				most = min(room, all)
			default:
				most = n.Free.Slots(need, ranks)
			}
		}
		rooms = append(rooms, most)
	}
	return rooms, could
}

// Suits reports whether a node may get the ranks of a place, by what it has said.
func (g *Gang) Suits(now grid.Time, p Place) bool {
	room := g.RoomAt(now, p.Node)
	return !slices.Contains(g.unfit, p.Node) && (room < 0 || room >= int(p.Ranks))
}

// Choose chooses workers for the next round. That ranks reach each other on some ports only is part of what it says.
func (g *Gang) Choose(now grid.Time, by Chooser, of *grid.Gang, need grid.Resources, nodes []grid.GangNode,
	rooms []int) Choice {
	c := g.choose(now, by, of, need, nodes, rooms)
	if c.Places != nil && of.Ports.Some() {
		c.Why = strings.TrimPrefix(c.Why+"; "+onPorts(&of.Ports), "; ")
	}
	return c
}

// choose chooses them. If too few slots are free as far as is known, the first round asks all the same, for the fewest
// ranks: that slots have become free is told with a delay, and the answers say how many are.
func (g *Gang) choose(now grid.Time, by Chooser, of *grid.Gang, need grid.Resources, nodes []grid.GangNode,
	rooms []int) Choice {
	size := g.Size(of)
	if g.Later() {
		return g.pause.late.choose(size, by, nodes, rooms)
	}
	c := by.Choose(size, nodes, rooms)
	if c.Places != nil || g.Tries > 0 {
		return c
	}
	size.Max = size.Min
	idle, all := g.WhenIdle(size.Max, need, nodes)
	for i := range idle {
		if idle[i].Refuses.Why != grid.WhyNone {
			all[i] = 0
		} else if room := g.RoomAt(now, idle[i].Node); room >= 0 {
			all[i] = min(room, all[i])
		}
	}
	if asks := by.Choose(size, idle, all); asks.Places != nil {
		return asks
	}
	return c
}

// WhenIdle returns the nodes that may run ranks as they would be if nothing ran, and for how many ranks each has slots.
func (g *Gang) WhenIdle(ranks int, need grid.Resources, nodes []grid.GangNode) (idle []grid.GangNode, rooms []int) {
	for _, n := range nodes {
		if n.Refuses.Why.Never() || n.Refuses.Why == grid.WhyGone || slices.Contains(g.unfit, n.Node) {
			continue
		}
		n.Free = n.Capacity
		idle, rooms = append(idle, n), append(rooms, n.Capacity.Slots(need, ranks))
	}
	return idle, rooms
}

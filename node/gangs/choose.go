package gangs

import (
	"cmp"
	"slices"

	"skep/grid"
)

// Chooser chooses workers for all ranks of a gang at once.
type Chooser interface {
	// Choose returns places for so many ranks, each of one need, none with more than rooms says of that node; none = they
	// do not suffice.
	Choose(ranks int, nodes []grid.GangNode, rooms []int) []Place
}

// FewestNodes takes few nodes, and of those that do the near and the least loaded ones.
type FewestNodes struct{}

// Choose implements [Chooser]: the nearest node that has room for all that are left, else the one with most room.
func (FewestNodes) Choose(ranks int, nodes []grid.GangNode, rooms []int) (places []Place) {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
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
			return nil
		}
		n := min(ranks, rooms[order[best]])
		places = append(places, Place{Node: nodes[order[best]].Node, Ranks: uint32(n)})
		order = slices.Delete(order, best, best+1)
		ranks -= n
	}
	return places
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

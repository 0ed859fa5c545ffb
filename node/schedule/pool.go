package schedule

import (
	"cmp"
	"slices"

	"skep/gang"
	"skep/grid"
)

// most bounds the places of a search, so that it takes some tens of milliseconds at most: of more nodes those that are
// fastest and those with most memory are looked at.
func most(ranks int) int { return max(2*ranks, 256) }

// considered returns the nodes that a search looks at, in their order.
func considered(ranks int, nodes []grid.GangNode, rooms []int) (of []int) {
	var all []int
	sum := 0
	for i := range nodes {
		if rooms[i] > 0 {
			all, sum = append(all, i), sum+rooms[i]
		}
	}
	if sum <= 2*most(ranks) {
		return all
	}
	for _, compare := range []func(a, b *grid.GangNode) int{
		func(a, b *grid.GangNode) int { return cmp.Compare(b.Speed, a.Speed) },
		func(a, b *grid.GangNode) int { return cmp.Compare(b.Free.Memory, a.Free.Memory) },
	} {
		slices.SortStableFunc(all, func(a, b int) int { return compare(&nodes[a], &nodes[b]) })
		sum := 0
		for _, i := range all {
			if sum += rooms[i]; !slices.Contains(of, i) {
				of = append(of, i)
			}
			if sum >= most(ranks) {
				break
			}
		}
	}
	slices.Sort(of)
	return of
}

// machines makes a pool of the nodes that have room, and returns the index of each one's node. The search orders
// machines by their speed and memory, and takes the first of those that are equal: here the one with the faster link.
func machines(ranks int, nodes []grid.GangNode, rooms []int) (of []int, pool *gang.Pool) {
	of = considered(ranks, nodes, rooms)
	slices.SortStableFunc(of, func(a, b int) int {
		return cmp.Compare(fromOwner(&nodes[b]), fromOwner(&nodes[a]))
	})
	var used []grid.GangNode
	var slots []int
	for _, i := range of {
		used, slots = append(used, nodes[i]), append(slots, rooms[i])
	}
	return of, poolOf(used, slots)
}

// poolOf makes a pool of all nodes, each with so many slots.
func poolOf(nodes []grid.GangNode, slots []int) *gang.Pool {
	var all []gang.Machine
	for i := range nodes {
		n := &nodes[i]
		all = append(all, gang.Machine{Speed: n.Speed * ReferenceWork, Memory: float64(n.Free.Memory), Slots: slots[i]})
	}
	return gang.NewPool(all, func(from, to int) gang.Link {
		l, _, _ := linkOf(&nodes[from], &nodes[to])
		return l
	})
}

// latency is the time of a message from one node to the other, seconds.
func latency(a, b *grid.GangNode) float64 {
	if d := a.Coord.Distance(&b.Coord); d > 0 {
		return d / 2
	}
	return (a.RTT + b.RTT).Seconds() / 2
}

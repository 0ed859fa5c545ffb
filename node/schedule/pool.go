package schedule

import (
	"skep/gang"
	"skep/grid"
)

// machines makes a pool of the nodes that have room, and returns the index of each one's node.
func machines(nodes []grid.GangNode, rooms []int) (of []int, pool *gang.Pool) {
	var all []gang.Machine
	for i := range nodes {
		if n := &nodes[i]; rooms[i] > 0 {
			of = append(of, i)
			all = append(all, gang.Machine{Speed: n.Speed * ReferenceWork, Memory: float64(n.Free.Memory), Slots: rooms[i]})
		}
	}
	return of, gang.NewPool(all, func(from, to int) gang.Link {
		l := gang.Link{Latency: latency(&nodes[of[from]], &nodes[of[to]]), Bandwidth: SiteBandwidth}
		if l.Latency > gang.DefaultSiteDelay {
			l.Bandwidth = FarBandwidth
		}
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

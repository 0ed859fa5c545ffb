package gang

import (
	"cmp"
	"math"
)

// candidate is a feasible group of a loop.
type candidate struct {
	loop                   int // in the order of [1]
	ranks, sites           int
	time                   float64
	speed, slowest, memory float64
}

// candidate is the group that has grown, as one of a loop.
func (g *growing) candidate(loop int, time float64) candidate {
	c := candidate{loop: loop, ranks: g.Ranks, sites: len(g.Sites), time: time, speed: g.Speed, memory: g.Memory,
		slowest: math.Inf(1)}
	for k := range g.Sites {
		c.slowest = min(c.slowest, g.Sites[k].Slowest)
	}
	return c
}

// better compares two candidates of different loops.
func (s *search) better(a, b *candidate) bool {
	if s.policy.MemoryOnly {
		return byMachines(a, b) < 0
	}
	return byTime(a, b) < 0
}

// byTime prefers the shorter predicted time [1, section III.D]. Of equal ones, which [1] leaves open, it is the one of
// fewer sites, then of fewer ranks, then of the union and order that come first.
func byTime(a, b *candidate) int {
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.sites, b.sites), cmp.Compare(a.ranks, b.ranks),
		cmp.Compare(a.loop, b.loop))
}

// byMachines prefers fewer sites, then fewer ranks, then more computation, a faster slowest machine, and more memory:
// the reconstruction of what [1, Fig. III.4] showed. Both are feasible.
func byMachines(a, b *candidate) int {
	return cmp.Or(cmp.Compare(a.sites, b.sites), cmp.Compare(a.ranks, b.ranks), cmp.Compare(b.speed, a.speed),
		cmp.Compare(b.slowest, a.slowest), cmp.Compare(b.memory, a.memory), cmp.Compare(a.loop, b.loop))
}

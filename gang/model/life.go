package model

import "skep/gang"

// life is the Game of Life in strips: after each iteration a rank exchanges a border row with the rank before it, and
// then with the one after it. Both directions of an exchange overlap, the two exchanges do not [1, Fig. IV.4].
type life struct{ mesh }

// Costs implements gang.Model: comm_i is the exchange with each neighbour that there is.
func (m *life) Costs(g *gang.Group, dst []gang.Cost) []gang.Cost {
	bytes := m.valueBytes * float64(m.n)
	before := 0.0
	for k, machine := range g.Places {
		c := m.place(g.Pool, machine)
		after := 0.0
		if k+1 < len(g.Places) {
			next := g.Places[k+1]
			after = max(m.message(g.Pool, machine, next, bytes), m.message(g.Pool, next, machine, bytes))
		}
		c.Fixed = before + after
		dst, before = append(dst, c), after
	}
	return dst
}

// Bound implements gang.Bounder. Within a site each rank but two has two exchanges; between a site and the next there
// is one, of two ranks, and no iteration is shorter than what one rank exchanges.
func (m *life) Bound(s *gang.Summary) float64 {
	bytes := m.valueBytes * float64(m.n)
	weighted, longest, before := 0.0, 0.0, 0.0
	for k := range s.Sites {
		a := &s.Sites[k]
		inside := m.least(a.Inside, bytes)
		weighted += 2 * (a.Speed - a.Fastest) * inside
		after := 0.0
		if k+1 < len(s.Sites) {
			after = max(m.least(a.Next[0], bytes), m.least(a.Next[1], bytes))
			weighted += after * (a.Slowest + s.Sites[k+1].Slowest)
		}
		if a.Ranks == 1 {
			longest = max(longest, before+after)
		} else {
			longest = max(longest, before+inside, after+inside)
		}
		before = after
	}
	return max(m.work(s, weighted), longest)
}

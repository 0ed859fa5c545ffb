package model

import (
	"math"

	"skep/gang"
)

// jacobi is a dense solver by Jacobi's method: in each iteration every rank broadcasts its unknowns to all others by a
// binomial tree [1, IV.8]:
//
//	comm = p·log2 p·mean of the time of a message of value_bytes·n/p bytes over all ordered pairs
//
// The depth of such a tree is log2 p rounded up; [1] does not round, whole is with that.
type jacobi struct {
	mesh
	whole bool
	depth []float64 // of the tree of p ranks, for the first p
}

// fewRanks is for how many ranks depths are computed beforehand.
const fewRanks = 1024

func newJacobi(m mesh, whole bool) *jacobi {
	j := &jacobi{mesh: m, whole: whole}
	for p := range fewRanks {
		j.depth = append(j.depth, j.tree(max(p, 1)))
	}
	return j
}

// steps is how many messages follow each other in the broadcasts of p ranks.
func (m *jacobi) steps(p int) float64 {
	if p < len(m.depth) {
		return float64(p) * m.depth[p]
	}
	return float64(p) * m.tree(p)
}

func (m *jacobi) tree(p int) float64 {
	depth := math.Log2(float64(p))
	if m.whole {
		depth = math.Ceil(depth)
	}
	return depth
}

// messages is the time of all broadcasts by the sums over all ordered pairs, in seconds.
func (m *jacobi) messages(p int, pairs gang.Least) float64 {
	if p == 1 {
		return 0
	}
	n := float64(p)
	return m.steps(p) * m.least(pairs, m.valueBytes*float64(m.n)/n) / (n * (n - 1))
}

// Costs implements gang.Model: comm_i is the same for all ranks.
func (m *jacobi) Costs(g *gang.Group, dst []gang.Cost) []gang.Cost {
	var pairs gang.Least
	for _, a := range g.Places {
		for _, b := range g.Places { // a place and itself take nothing
			pairs.Latency += g.Pool.Latency(a, b)
			pairs.Inverse += g.Pool.Inverse(a, b)
		}
	}
	fixed := m.messages(len(g.Places), pairs)
	for _, machine := range g.Places {
		c := m.place(g.Pool, machine)
		c.Fixed = fixed
		dst = append(dst, c)
	}
	return dst
}

// Bound implements gang.Bounder.
func (m *jacobi) Bound(s *gang.Summary) float64 {
	comm := m.messages(s.Ranks, s.Pairs)
	return m.work(s, s.Speed*comm)
}

package lpas

import "math"

// Merged makes identical machines one column, solves that, and gives every machine of a group the
// same part of itself. This is how [1, sections 2.2.2 and 2.3.2] treats systems made of groups: of
// their many optima it takes the one that is even inside a group. It is not a vertex of the whole
// problem. With G groups the basis has N + G entries, and belongs to Merged alone.
//
// Machines are identical if their capacities and all their rates agree when rounded to 30 bits (about
// nine decimal digits); the rates of the first machine then stand for the group, so Lambda and Bound
// are good to that many digits. Lambda is what the shares support at the true rates.
func Merged(p *Problem, b *Basis, ws *Workspace, sol *Solution) {
	g := &ws.groups
	g.find(p)
	Vertex(&g.merged, b, ws, &g.inner)
	in := &g.inner
	sol.Status, sol.Lambda, sol.Bound, sol.Pivots = in.Status, in.Lambda, in.Bound, in.Pivots
	sol.Price = append(sol.Price[:0], in.Price...)
	sol.Unrunnable = append(sol.Unrunnable[:0], in.Unrunnable...)
	sol.Delta = sol.Delta[:0]
	if in.Status == NoDemand || in.Status == NoMachine {
		return
	}
	// in.Delta is sorted by group: the shares of group k are from first[k] to first[k+1].
	groups := len(g.merged.Cap)
	g.first = grown(g.first, groups+1)
	at := 0
	for k := range groups {
		g.first[k] = int32(at)
		for at < len(in.Delta) && int(in.Delta[at].Machine) == k {
			at++
		}
	}
	g.first[groups] = int32(at)
	g.supply = grown(g.supply, len(p.Alpha))
	clear(g.supply)
	for j, k := range g.of {
		for _, d := range in.Delta[g.first[k]:g.first[k+1]] {
			d.Machine = int32(j)
			d.Part *= p.Cap[j] / g.merged.Cap[k]
			sol.Delta = append(sol.Delta, d)
			g.supply[d.Class] += d.Part * p.Mu[int(d.Class)*len(p.Cap)+j]
		}
	}
	sol.Lambda = math.Inf(1)
	for i, a := range p.Alpha {
		if ws.level[i] >= 0 {
			sol.Lambda = min(sol.Lambda, g.supply[i]/a)
		}
	}
}

// groups finds identical machines and holds what Merged needs besides a Workspace.
type groups struct {
	merged Problem
	inner  Solution
	of     []int32 // machine → group; groups are numbered by their first machine
	like   []int32 // group → that machine
	hash   []uint64
	table  []int32 // open addressing, group+1
	first  []int32
	supply []float64
}

// rounded keeps 30 bits of the mantissa, to nearest.
func rounded(x float64) uint64 { return (math.Float64bits(x) + 1<<21) >> 22 }

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// find numbers the groups of p and builds the problem that has one column for each.
func (g *groups) find(p *Problem) {
	n, m := len(p.Alpha), len(p.Cap)
	g.hash, g.of = grown(g.hash, m), grown(g.of, m)
	for j, c := range p.Cap {
		g.hash[j] = mix(0, rounded(c))
	}
	for i := range n {
		for j, x := range p.Mu[i*m:][:m] {
			g.hash[j] = mix(g.hash[j], rounded(x))
		}
	}
	size := 1
	for size < 2*m {
		size *= 2
	}
	g.table = grown(g.table, size)
	clear(g.table)
	g.like = g.like[:0]
	g.merged.Cap = g.merged.Cap[:0]
	for j, h := range g.hash {
		at := int(h) & (size - 1)
		for g.table[at] > 0 && !g.same(p, int(g.like[g.table[at]-1]), j) {
			at = (at + 1) & (size - 1)
		}
		if g.table[at] == 0 {
			g.like = append(g.like, int32(j))
			g.merged.Cap = append(g.merged.Cap, 0)
			g.table[at] = int32(len(g.like))
		}
		k := g.table[at] - 1
		g.of[j] = k
		g.merged.Cap[k] += p.Cap[j]
	}
	g.merged.Alpha = append(g.merged.Alpha[:0], p.Alpha...)
	g.merged.Mu = grown(g.merged.Mu, n*len(g.like))
	for i := range n {
		row := p.Mu[i*m:][:m]
		to := g.merged.Mu[i*len(g.like):][:len(g.like)]
		for k, j := range g.like {
			to[k] = row[j]
		}
	}
}

func (g *groups) same(p *Problem, j, k int) bool {
	if g.hash[j] != g.hash[k] || rounded(p.Cap[j]) != rounded(p.Cap[k]) {
		return false
	}
	for at := 0; at < len(p.Mu); at += len(p.Cap) {
		if rounded(p.Mu[at+j]) != rounded(p.Mu[at+k]) {
			return false
		}
	}
	return true
}

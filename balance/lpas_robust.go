package balance

import (
	"math"

	"skep/grid"
	"skep/lpas"
)

// robust is lpas_dec_robust: LPAS_dec with a support that a young rate cannot shrink. To the vertex it adds each pair
// that a rate within what is in doubt would give a share at the prices y of the LP, as the interior optimum of [1,
// section 3.4.5] does with rates that are exact:
//
//	mu_ij > 0,  c_j > 0,  e_ij > 0,  y_i·mu_ij·(1 + e_ij) ≥ max_{k≠i} y_k·mu_kj
//
// e_ij is the doubt about a rate, the relative standard error of a mean of n_ij exponential times,
//
//	e_ij = 1/√n_ij,  0 from n_ij = 25 on,
//
// with n_ij the moves of the rate that the decider was told of and the ends of the class there that it saw since the
// first. A rate that has not moved since it was first told is none that is being measured: e_ij is 0. With all e_ij 0
// the policy is lpas_dec. That a pair in doubt is drawn for a poll as though it had the part e_ij of the machine is
// ours.
type robust struct {
	lpasDec
	evidence matrix        // n_ij
	ids      []grid.NodeID // whose it is, by index of the node
	classes  []string      // and of which class
	value    [2][]float64  // by node: the two highest y_k·mu_kj
	by       []int32       // by node: the row of the highest
	doubtful []bool        // by node: some e_kj is not 0
}

// settledAt is the n_ij from which on a rate is not in doubt.
const settledAt = 25

func init() {
	register("lpas_dec_robust", func(c *Config, r *grid.Rand) Policy {
		p := &robust{}
		p.lpasDec = newLPAS(c, r, p.solve, false)
		return p
	})
}

// Note counts what is known of rates besides keeping them.
func (p *robust) Note(o Outcome) {
	switch o.Kind {
	case Rates:
		p.told(&o)
	case Finished:
		i, known := p.rates.classOf(o.Class)
		j, there := p.rates.lookup(&o.Node)
		if known && there && p.keeps(i, j) && p.evidence.at(i, j) > 0 {
			p.evidence.set(i, j, p.evidence.at(i, j)+1)
			if p.evidence.at(i, j) == settledAt {
				p.rates.shape = true // solve again: the pair is not in doubt any more
			}
		}
	}
	p.decider.Note(o)
}

// told counts the rates of a column that have moved.
func (p *robust) told(o *Outcome) {
	j, there := p.rates.lookup(&o.Node)
	if !there || !p.rates.rated[j] {
		return
	}
	for k := range o.Rates {
		i, known := p.rates.classOf(o.Rates[k].Class)
		if !known {
			continue
		}
		was, is := p.rates.mu.at(i, j), clean(o.Rates[k].Mu)
		if was > 0 && is > 0 && was != is {
			p.hold(i, j)
			p.evidence.set(i, j, p.evidence.at(i, j)+1)
		}
	}
}

// keeps reports whether there is a place for what is known of a rate.
func (p *robust) keeps(i, j int32) bool {
	return int(i) < len(p.classes) && int(j) < len(p.ids) && p.classes[i] == p.rates.names[i] && p.ids[j] == p.rates.ids[j]
}

// hold makes a place for what is known of a rate, and forgets what was known of another node or class there.
func (p *robust) hold(i, j int32) {
	n, m := len(p.rates.names), len(p.rates.ids)
	p.evidence.grow(n, m)
	for len(p.classes) < n {
		p.classes = append(p.classes, p.rates.names[len(p.classes)])
	}
	for len(p.ids) < m {
		p.ids = append(p.ids, p.rates.ids[len(p.ids)])
	}
	if p.classes[i] != p.rates.names[i] {
		p.classes[i] = p.rates.names[i]
		clear(p.evidence.row(i, len(p.ids)))
	}
	if p.ids[j] != p.rates.ids[j] {
		p.ids[j] = p.rates.ids[j]
		for k := range p.classes {
			p.evidence.set(int32(k), j, 0)
		}
	}
}

// doubt is e_ij.
func (p *robust) doubt(i, j int32) float64 {
	if !p.keeps(i, j) {
		return 0
	}
	n := p.evidence.at(i, j)
	if n == 0 || n >= settledAt {
		return 0
	}
	return 1 / math.Sqrt(n)
}

// solve is the form of the LP: the vertex, with the pairs that are in doubt.
func (p *robust) solve(x *lpas.Problem, b *lpas.Basis, ws *lpas.Workspace, sol *lpas.Solution) {
	lpas.Vertex(x, b, ws, sol)
	if len(sol.Price) == 0 {
		return
	}
	own, m := p.allocation.own, len(x.Cap)
	p.weigh(x, sol.Price)
	vertex := len(sol.Delta)
	has := func(i, j int) bool {
		for _, s := range sol.Delta[:vertex] {
			if int(s.Class) == i && int(s.Machine) == j {
				return true
			}
		}
		return false
	}
	for j, c := range x.Cap {
		if !(c > 0) || !p.doubtful[j] {
			continue
		}
		for i, class := range own {
			mu, e := x.Mu[i*m+j], p.doubt(class, int32(j))
			rival := p.value[0][j]
			if int(p.by[j]) == i {
				rival = p.value[1][j]
			}
			if y := sol.Price[i]; e > 0 && mu > 0 && y > 0 && y*mu*(1+e) >= rival && !has(i, j) {
				sol.Delta = append(sol.Delta, lpas.Share{Class: int32(i), Machine: int32(j), Part: e * c})
			}
		}
	}
}

// weigh finds for each node which classes value it most.
func (p *robust) weigh(x *lpas.Problem, price []float64) {
	m := len(x.Cap)
	p.value[0], p.value[1] = resized(p.value[0], m), resized(p.value[1], m)
	p.by, p.doubtful = resized(p.by, m), resized(p.doubtful, m)
	for j := range m {
		p.value[0][j], p.value[1][j], p.by[j], p.doubtful[j] = 0, 0, -1, false
		for i, y := range price {
			e := 0.0
			if i < len(p.allocation.own) {
				e = p.doubt(p.allocation.own[i], int32(j))
			}
			p.doubtful[j] = p.doubtful[j] || e > 0
			switch v := y * x.Mu[i*m+j]; {
			case v > p.value[0][j] || p.by[j] < 0:
				p.value[1][j], p.value[0][j], p.by[j] = p.value[0][j], v, int32(i)
			case v > p.value[1][j]:
				p.value[1][j] = v
			}
		}
	}
}

package balance

import (
	"skep/grid"
	"skep/lpas"
)

// Solver is what a policy that solves an LP also tells, for metrics.
type Solver interface {
	// Lambda is the factor by which all known arrivals could grow; 1/Lambda is the load. 0 = nothing
	// solved, nothing arrives, or nobody can run what arrives.
	Lambda() float64
	// Solves counts the LPs solved.
	Solves() uint64
}

// lpasDec is LPAS_dec [1, section 4.2]: only nodes to which the LP gives a share of the task's class are
// asked, and the one that expects to complete it first gets it.
//
// LPAS of a cluster [1, section 2.2] is the same with one decider for all machines, which takes the
// optimum that is even among identical machines. The 2/k forms [1, section 2.3.1] ask two of the support.
type lpasDec struct {
	decider
	allocation allocation
	two        bool
	weights    []float64 // of picked
}

func init() {
	for _, v := range []struct {
		name string
		form form
		two  bool
	}{
		{"lpas", lpas.Merged, false}, {"lpas_2k", lpas.Merged, true},
		{"lpas_dec", lpas.Vertex, false}, {"lpas_dec_2k", lpas.Vertex, true},
	} {
		register(v.name, func(c *Config, r *grid.Rand) Policy {
			p := newLPAS(c, r, v.form, v.two)
			return &p
		})
	}
}

func newLPAS(c *Config, r *grid.Rand, f form, two bool) lpasDec {
	return lpasDec{decider: decider{cfg: c, rand: r}, allocation: newAllocation(c, f), two: two}
}

// Poll solves the LP if the rates have changed, and appends the support of the task's class: all of it, or
// PollMax drawn from it by delta·mu (and the decider). Where the support cannot be reached, or there is
// none, all that can run the class stand in for it.
func (p *lpasDec) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	p.allocation.refresh(&p.rates)
	p.reach(t, v)
	return p.poll(now, t, v, dst)
}

// poll appends of what is picked, or of all where nothing is.
func (p *lpasDec) poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	base := len(dst)
	supported := len(p.picked) > 0
	if supported && p.cfg.PollMax <= 0 && !p.two && p.cfg.Explore <= 0 {
		for _, k := range p.picked {
			dst = append(dst, v.Nodes[k].Node)
		}
		return dst
	}
	if supported {
		p.mark(v)
		dst = p.draw(v, dst)
	} else {
		p.rank(now, v, false)
		p.runnable(t, v)
		dst = p.ask(v, p.cfg.PollMax, dst)
		p.picked = p.picked[:0]
		for _, id := range dst[base:] {
			p.picked = append(p.picked, int32(find(v, id)))
		}
		p.mark(v)
	}
	return p.explore(v, dst)
}

// reach picks the part of the support that is in the view.
func (p *lpasDec) reach(t *grid.Task, v View) {
	p.weights = p.weights[:0]
	nodes, weights, own := p.allocation.support(&p.rates, t.Class)
	var class wanted
	if !own {
		class = p.rates.wanted(t.Class)
	}
	shift := 0 // of positions in the view against indices; it changes where a node is missing
	for x, j := range nodes {
		// A class without a row of its own shares the nodes of the rest, some of which may not run it.
		if !own {
			if mu, known := p.rates.execution(j, class); known && mu == 0 {
				continue
			}
		}
		if k := findAt(v, p.rates.ids[j], int(j)+shift); k >= 0 {
			shift = k - int(j)
			p.picked = append(p.picked, int32(k))
			p.weights = append(p.weights, weights[x])
		}
	}
}

// mark notes the picked positions of the view.
func (p *lpasDec) mark(v View) {
	p.marks = resized(p.marks, len(v.Nodes))
	clear(p.marks)
	for _, k := range p.picked {
		if k >= 0 {
			p.marks[k] = true
		}
	}
}

// draw appends the picked nodes: all, or PollMax of them, each draw in proportion to the weights that are
// left [1, section 2.3.1], and besides them the decider, which is free; or two, as the 2/k forms do.
func (p *lpasDec) draw(v View, dst []grid.NodeID) []grid.NodeID {
	limit := p.cfg.PollMax
	self := find(v, v.Self)
	if p.two {
		limit, self = 2, -1
	}
	if limit > 0 && self >= 0 {
		dst = append(dst, v.Self)
		for x, k := range p.picked {
			if int(k) == self {
				p.take(x)
				break
			}
		}
		p.marks[self] = true
	}
	if limit <= 0 || len(p.picked) <= limit {
		for _, k := range p.picked {
			dst = append(dst, v.Nodes[k].Node)
		}
		return dst
	}
	for range limit {
		x := p.pick()
		dst = append(dst, v.Nodes[p.picked[x]].Node)
		p.take(x)
	}
	return dst
}

// pick draws one of picked by weight.
func (p *lpasDec) pick() int {
	var total float64
	for _, w := range p.weights {
		total += w
	}
	u := p.rand.Float64() * total
	for x, w := range p.weights {
		if u -= w; u < 0 {
			return x
		}
	}
	return len(p.weights) - 1
}

// take removes one of picked.
func (p *lpasDec) take(x int) {
	n := len(p.picked) - 1
	p.picked[x], p.weights[x] = p.picked[n], p.weights[n]
	p.picked, p.weights = p.picked[:n], p.weights[:n]
}

// explore appends, once in a while, a node of the view that is not marked: what is never asked is never
// heard of again.
func (p *lpasDec) explore(v View, dst []grid.NodeID) []grid.NodeID {
	if p.cfg.Explore <= 0 || p.rand.Float64() >= p.cfg.Explore {
		return dst
	}
	left := 0
	for _, m := range p.marks {
		if !m {
			left++
		}
	}
	if left == 0 {
		return dst
	}
	nth := p.rand.IntN(left)
	for k, m := range p.marks {
		if m {
			continue
		}
		if nth == 0 {
			return append(dst, v.Nodes[k].Node)
		}
		nth--
	}
	return dst
}

// Choose takes the earliest expected completion.
func (p *lpasDec) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	return p.soonest(now, t, answers)
}

// Lambda implements [Solver].
func (p *lpasDec) Lambda() float64 { return p.allocation.factor() }

// Solves implements [Solver].
func (p *lpasDec) Solves() uint64 { return p.allocation.solves }

package balance

import (
	"math"

	"skep/grid"
	"skep/lpas"
)

// guided is Guided-LPAS [1, section 2.4] and, with two, Guided-LPAS-2/k: LPAS that leaves a machine out as
// long as it has had more of a class than its share. On an arrival at time t, counted from the first solution, the
// candidates are
//
//	T_i(t) = { j : delta_ij > 0, A_ij < G_ij + pi_ij·L_i + C·√t },   pi_ij = delta_ij·mu_ij / Σ_j delta_ij·mu_ij
//
// with A_ij the tasks of the class placed on j so far, G_ij those that were to be by the solutions until now, this
// arrival too, and L_i what machines without a share now are behind in all ([quotas]). With rates that stay, G_ij is
// pi_ij·A_i and L_i is 0, which is [1]. Where rates move [1] leaves open what becomes of the counts.
type guided struct {
	lpasDec
	quotas quotas
	since  grid.Time
	began  bool
	left   uint64
}

// Guard is what a policy that leaves nodes out of the allocation also tells.
type Guard interface {
	// Guarded counts the tasks for which the node of the allocation that was to complete them first, as far as the
	// view told, was left out.
	Guarded() uint64
}

func init() {
	for _, v := range []struct {
		name string
		two  bool
	}{{"guided_lpas", false}, {"guided_lpas_2k", true}} {
		register(v.name, func(c *Config, r *grid.Rand) Policy { return &guided{lpasDec: newLPAS(c, r, lpas.Merged, v.two)} })
	}
}

func (p *guided) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	if p.allocation.refresh(&p.rates) || !p.began {
		p.quotas.settle(&p.rates, &p.allocation)
	}
	if !p.began {
		p.began, p.since = true, now
	}
	p.reach(t, v)
	p.guard(now, t, v)
	return p.poll(now, t, v, dst)
}

// guard keeps of what is picked the nodes that are not ahead of their share; all, where it would be none
// because those behind are not in the view.
func (p *guided) guard(now grid.Time, t *grid.Task, v View) {
	i, ok := p.quotas.class(&p.rates, t.Class)
	if !ok {
		return
	}
	slack := p.slack(now)
	kept := 0
	first, best := math.Inf(1), math.Inf(1) // completions: of all that are picked, and of those kept
	for x, k := range p.picked {
		first = min(first, v.Nodes[k].ECT)
		j, _ := p.rates.lookup(&v.Nodes[k].Node)
		if p.quotas.placed.at(i, j) < p.quotas.target(i, j)+slack {
			p.picked[kept], p.picked[x] = k, p.picked[kept]
			p.weights[kept], p.weights[x] = p.weights[x], p.weights[kept]
			kept++
			best = min(best, v.Nodes[k].ECT)
		}
	}
	if kept > 0 {
		if best > first {
			p.left++
		}
		p.picked, p.weights = p.picked[:kept], p.weights[:kept]
	}
}

// slack is C·√t, tasks.
func (p *guided) slack(now grid.Time) float64 {
	c := p.cfg.Guide
	if c == 0 {
		c = 1
	}
	return c * math.Sqrt(max(now.Sub(p.since).Seconds(), 0))
}

// Guarded implements [Guard].
func (p *guided) Guarded() uint64 { return p.left }

func (p *guided) Note(o Outcome) {
	p.decider.Note(o)
	switch o.Kind {
	case Placed:
		p.quotas.count(&p.rates, &o, 1)
	case Refused:
		p.quotas.count(&p.rates, &o, -1)
	}
}

package balance

import (
	"math"

	"skep/grid"
	"skep/lpas"
)

// guided is Guided-LPAS [1, section 2.4] and, with two, Guided-LPAS-2/k: LPAS that leaves a machine out as
// long as it has had more of a class than its share. On an arrival at time t, counted from when the
// allocation was made, the candidates are
//
//	T_i(t) = { j : delta_ij > 0, A_ij < pi_ij·A_i + C·√t },   pi_ij = delta_ij·mu_ij / Σ_j delta_ij·mu_ij
//
// with A_i the arrivals of the class so far, this one too, and A_ij those placed on j. Which the sums of
// A_ij and pi_ij show not to be empty. A new allocation begins to count anew, which [1] leaves open.
type guided struct {
	lpasDec
	counts matrix // tasks placed, by class and node
	sums   []float64
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
		p.restart(now)
	}
	p.reach(t, v)
	p.guard(now, t, v)
	return p.poll(now, t, v, dst)
}

// restart counts from now on.
func (p *guided) restart(now grid.Time) {
	p.began, p.since = true, now
	p.counts.grow(len(p.rates.names), len(p.rates.ids))
	clear(p.counts.v)
	p.sums = resized(p.sums, len(p.rates.names))
	clear(p.sums)
}

// guard keeps of what is picked the nodes that are not ahead of their share; all, where it would be none
// because those behind are not in the view.
func (p *guided) guard(now grid.Time, t *grid.Task, v View) {
	i, ok := p.rates.classOf(t.Class)
	if !ok || int(i) >= len(p.sums) {
		return
	}
	_, weights, _ := p.allocation.support(&p.rates, t.Class)
	var total float64
	for _, w := range weights {
		total += w
	}
	slack := p.slack(now)
	kept := 0
	first, best := math.Inf(1), math.Inf(1) // completions: of all that are picked, and of those kept
	for x, k := range p.picked {
		first = min(first, v.Nodes[k].ECT)
		j, _ := p.rates.lookup(&v.Nodes[k].Node)
		if p.counts.at(i, j) < p.weights[x]/total*(p.sums[i]+1)+slack {
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
	if o.Kind != Placed && o.Kind != Refused {
		return
	}
	i, known := p.rates.classOf(o.Class)
	j, there := p.rates.lookup(&o.Node)
	if !known || !there || int(i) >= min(p.counts.rows, len(p.sums)) || int(j) >= p.counts.stride {
		return
	}
	change := 1.0
	if o.Kind == Refused {
		change = -min(1, p.counts.at(i, j))
	}
	p.counts.set(i, j, p.counts.at(i, j)+change)
	p.sums[i] += change
}

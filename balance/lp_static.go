package balance

import (
	"math"

	"skep/grid"
	"skep/lpas"
)

// lpStatic is LP-Static [1, section 2.3]: nobody is asked, the node is drawn by the allocation's shares,
//
//	p_ij = delta_ij·mu_ij / Σ_j delta_ij·mu_ij
//
// It keeps every system in balance that can be kept so, and completes tasks late: it is here to be
// compared with.
type lpStatic struct{ lpasDec }

func init() {
	register("lp_static", func(c *Config, r *grid.Rand) Policy { return &lpStatic{newLPAS(c, r, lpas.Merged, false)} })
}

func (p *lpStatic) Poll(_ grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	p.meet(t, v)
	p.allocation.refresh(&p.rates)
	return dst
}

func (p *lpStatic) Choose(_ grid.Time, t *grid.Task, answers []State) Choice {
	p.picked = p.picked[:0]
	p.reach(t, View{Nodes: answers})
	for x := len(p.picked) - 1; x >= 0; x-- {
		if math.IsInf(able(&answers[p.picked[x]]), 1) {
			p.take(x)
		}
	}
	if len(p.picked) > 0 {
		return p.place(t, answers, int(p.picked[p.pick()]))
	}
	p.scores = p.scores[:0]
	for k := range answers {
		p.scores = append(p.scores, able(&answers[k]))
	}
	k := draw(p.scores, 0, p.rand)
	if k < 0 {
		return Choice{Act: Wait}
	}
	return p.place(t, answers, k)
}

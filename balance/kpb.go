package balance

import (
	"math"

	"skep/grid"
)

// kpb is k-percent best [1, sections 2.1 and 4.1]: the KPB nodes that run the class fastest are asked,
// ties at the border going to the lower identity, and the earliest expected completion gets the task.
type kpb struct{ decider }

func init() {
	register("kpb", func(c Config, r *grid.Rand) Policy { return &kpb{decider{cfg: c, rand: r}} })
}

func (p *kpb) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	p.executions(t, v.Nodes)
	fit := 0
	for _, e := range p.scores {
		if !math.IsInf(e, 1) {
			fit++
		}
	}
	if fit == 0 { // no rate is known: all are alike
		for k := range p.scores {
			p.scores[k] = 0
		}
		fit = len(p.scores)
	}
	k := p.cfg.KPB
	if k <= 0 {
		if k = max(1, fit/3); p.cfg.PollMax > 0 {
			k = min(k, p.cfg.PollMax)
		}
	}
	p.picked = least(p.picked, p.scores, k, 0)
	for _, k := range p.picked {
		dst = append(dst, v.Nodes[k].Node)
	}
	return dst
}

func (p *kpb) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	return p.soonest(now, t, answers)
}

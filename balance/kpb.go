package balance

import (
	"math"

	"skep/grid"
)

// kpb is k-percent best [1, sections 2.1 and 4.1]: the nodes that run the class fastest are asked, ties at the
// border going to the lower identity, and the earliest expected completion gets the task. How many of M that
// are is given as a number (kpb:3), or as a percentage k of which the sources make different numbers:
//
//	kpb:k%       ⌊k·M/100⌋, at least 1 [1, section 2.1]
//	kpb_ceil:k%  ⌈k·M/100⌉             [4, section 2.2]
type kpb struct {
	decider
	ceil bool
}

func init() {
	register("kpb", func(c *Config, r *grid.Rand) Policy { return &kpb{decider: decider{cfg: c, rand: r}} })
	register("kpb_ceil", func(c *Config, r *grid.Rand) Policy {
		return &kpb{decider: decider{cfg: c, rand: r}, ceil: true}
	})
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
	p.picked = least(p.picked, p.scores, p.count(fit, len(v.Nodes)), 0)
	for _, k := range p.picked {
		dst = append(dst, v.Nodes[k].Node)
	}
	return dst
}

// count is how many are asked, of all nodes of which fit can run the class.
func (p *kpb) count(fit, all int) int {
	switch part := p.cfg.KPBPart; {
	case p.cfg.KPB > 0 && !p.ceil:
		return p.cfg.KPB
	case part > 0 && p.ceil:
		return parts(part, all, math.Ceil)
	case part > 0:
		return parts(part, all, math.Floor)
	}
	k := max(1, fit/3)
	if p.ceil {
		k = (fit + 4) / 5
	}
	if p.cfg.PollMax > 0 {
		k = min(k, p.cfg.PollMax)
	}
	return k
}

// parts is a part of a number, rounded, at least 1. What is a whole number but for the last digits is one.
func parts(part float64, of int, round func(float64) float64) int {
	x := part * float64(of)
	if n := math.Round(x); math.Abs(x-n) < 1e-9*float64(of) {
		x = n
	}
	return max(1, int(round(x)))
}

func (p *kpb) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	return p.soonest(now, t, answers)
}

package balance

import "skep/grid"

// twoChoices is the power of two choices [3]: two nodes of the view are drawn, all equally likely, and
// asked; the earlier expected completion gets the task.
type twoChoices struct{ decider }

func init() {
	register("two_choices", func(c *Config, r *grid.Rand) Policy { return &twoChoices{decider{cfg: c, rand: r}} })
}

func (p *twoChoices) Poll(_ grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	n := len(v.Nodes)
	a := p.rand.IntN(n)
	dst = append(dst, v.Nodes[a].Node)
	if n == 1 {
		return dst
	}
	b := p.rand.IntN(n - 1)
	if b >= a {
		b++
	}
	return append(dst, v.Nodes[b].Node)
}

func (p *twoChoices) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	return p.soonest(now, t, answers)
}

package balance

import (
	"slices"

	"skep/grid"
)

// mct is minimum completion time [1, sections 2.1 and 4.1]: everybody is asked, the earliest expected
// completion gets the task. With PollMax the soonest as known without a message are asked, and one more.
type mct struct{ decider }

func init() {
	register("mct", func(c *Config, r *grid.Rand) Policy { return &mct{decider{cfg: c, rand: r}} })
}

func (p *mct) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	if p.cfg.PollMax <= 0 {
		return everybody(v, dst)
	}
	p.rank(now, v, false)
	return p.ask(v, p.cfg.PollMax, dst)
}

func (p *mct) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	return p.soonest(now, t, answers)
}

// everybody appends all nodes of a view.
func everybody(v View, dst []grid.NodeID) []grid.NodeID {
	n := len(dst)
	dst = slices.Grow(dst, len(v.Nodes))[:n+len(v.Nodes)]
	for k := range v.Nodes {
		dst[n+k] = v.Nodes[k].Node
	}
	return dst
}

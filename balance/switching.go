package balance

import (
	"math"

	"skep/grid"
)

// switching is the switching algorithm [2]: it places by the earliest completion until the machines are
// evenly loaded, then by the shortest execution until they are not. Even is
//
//	min_j Ready_j / max_j Ready_j,
//
// 1 where all are idle; above SwitchHigh it turns to the shortest execution, below SwitchLow back.
// Everybody is asked, as in mct: the index needs all of them.
type switching struct {
	decider
	shortest bool
}

func init() {
	register("switching", func(c *Config, r *grid.Rand) Policy {
		own := *c
		c = &own
		if c.SwitchHigh == 0 {
			c.SwitchLow, c.SwitchHigh = 0.6, 0.9
		}
		return &switching{decider: decider{cfg: c, rand: r}}
	})
}

func (p *switching) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	p.rank(now, v, false)
	return p.ask(v, p.cfg.PollMax, dst)
}

func (p *switching) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	least, most := math.Inf(1), 0.0
	for k := range answers {
		s := &answers[k]
		if ready := sound(s.Ready) + p.charge(now, s) + able(s); !math.IsInf(ready, 1) {
			least, most = min(least, ready), max(most, ready)
		}
	}
	even := 1.0
	if most > 0 {
		even = least / most
	}
	switch {
	case even > p.cfg.SwitchHigh:
		p.shortest = true
	case even < p.cfg.SwitchLow:
		p.shortest = false
	}
	if p.shortest {
		p.executions(t, answers)
		for k := range answers {
			p.scores[k] += able(&answers[k])
		}
		if k := draw(p.scores, p.cfg.NearTie, p.ties()); k >= 0 {
			return p.place(t, answers, k)
		}
	}
	return p.soonest(now, t, answers)
}

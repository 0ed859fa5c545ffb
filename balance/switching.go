package balance

import (
	"math"
	"slices"

	"skep/grid"
)

// switching is the switching algorithm [2]: it places by the earliest completion until the machines are
// evenly loaded, then by the shortest execution until they are not. Even is
//
//	min_j Ready_j / max_j Ready_j,
//
// over all machines, 1 where all are idle; above SwitchHigh it turns to the shortest execution, below SwitchLow back.
// Those that were asked count with their answers and all others of the view with what is known of them: with PollMax
// the answers are those of the soonest few, which look even under any load.
type switching struct {
	decider
	shortest bool
	ids      []grid.NodeID // of the view
	ready    []float64     // by position in it, as known before the answers: seconds, +Inf = does not count
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
	p.ids, p.ready = p.ids[:0], p.ready[:0]
	for k := range v.Nodes {
		p.ids, p.ready = append(p.ids, v.Nodes[k].Node), append(p.ready, p.readyAt(now, &v.Nodes[k]))
	}
	p.rank(now, v, false)
	return p.ask(v, p.cfg.PollMax, dst)
}

func (p *switching) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	even := p.evenness(now, answers)
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

// readyAt is when a task that came to a node now would start there, seconds from now.
func (p *switching) readyAt(now grid.Time, s *State) float64 {
	return sound(s.Ready) + p.charge(now, s) + able(s)
}

// evenness is the load balance index, from 0 to 1.
func (p *switching) evenness(now grid.Time, answers []State) float64 {
	for k := range answers {
		if at, ok := slices.BinarySearchFunc(p.ids, answers[k].Node, grid.NodeID.Compare); ok {
			p.ready[at] = p.readyAt(now, &answers[k])
		}
	}
	least, most := math.Inf(1), 0.0
	for _, ready := range p.ready {
		if !math.IsInf(ready, 1) {
			least, most = min(least, ready), max(most, ready)
		}
	}
	if most == 0 {
		return 1
	}
	return least / most
}

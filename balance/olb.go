package balance

import "skep/grid"

// olb is opportunistic load balancing [2]: the node that would start the task first gets it, however long
// it then takes. Who is asked is as in mct, by the time of the start.
type olb struct{ decider }

func init() {
	register("olb", func(c *Config, r *grid.Rand) Policy { return &olb{decider{cfg: c, rand: r}} })
}

func (p *olb) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	if !p.meet(t, v) {
		return dst
	}
	p.rank(now, v, true)
	return p.ask(v, p.cfg.PollMax, dst)
}

func (p *olb) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	p.scores = p.scores[:0]
	for k := range answers {
		s := &answers[k]
		// able: a node that cannot run the task is out, however soon it would start.
		p.scores = append(p.scores, sound(s.Ready)+p.charge(now, s)+able(s))
	}
	return p.place(t, answers, draw(p.scores, p.cfg.NearTie, p.ties()))
}

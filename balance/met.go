package balance

import "skep/grid"

// met is minimum execution time [1, section 2.1]: nobody is asked, the node that runs such a task fastest
// gets it, however much waits there. It is here to be compared with; under load it is rarely stable.
type met struct{ decider }

func init() {
	register("met", func(c *Config, r *grid.Rand) Policy { return &met{decider{cfg: c, rand: r}} })
}

func (p *met) Poll(_ grid.Time, _ *grid.Task, _ View, dst []grid.NodeID) []grid.NodeID { return dst }

func (p *met) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	p.executions(t, answers)
	k := draw(p.scores, p.cfg.NearTie, p.ties())
	if k < 0 { // nobody is known to run the class: the soonest will teach its rate
		if c := p.soonest(now, t, answers); c.Act == Place {
			return c
		}
		return Choice{Act: Wait} // there is nobody more to ask: it asks nobody
	}
	return p.place(t, answers, k)
}

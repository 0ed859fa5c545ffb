package balance

import (
	"math"

	"skep/grid"
)

// random draws one of the nodes that can run the task, all equally likely. Nobody is asked.
type random struct {
	rand   *grid.Rand
	scores []float64
}

func init() {
	register("random", func(_ *Config, r *grid.Rand) Policy { return &random{rand: r} })
}

func (p *random) Poll(_ grid.Time, _ *grid.Task, _ View, dst []grid.NodeID) []grid.NodeID { return dst }

func (p *random) Choose(_ grid.Time, _ *grid.Task, answers []State) Choice {
	p.scores = p.scores[:0]
	for k := range answers {
		p.scores = append(p.scores, able(&answers[k]))
	}
	k := draw(p.scores, 0, p.rand)
	if k < 0 {
		return Choice{Act: Wait}
	}
	return Choice{Act: Place, Node: answers[k].Node, ECT: answers[k].ECT}
}

func (p *random) Note(Outcome) {}

// able is 0 for a node that expects to complete the task some day, else +Inf.
func able(s *State) float64 {
	if math.IsInf(sound(s.ECT), 1) {
		return math.Inf(1)
	}
	return 0
}

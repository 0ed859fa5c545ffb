package balance

import (
	"math"

	"skep/grid"
)

// local runs every task where it was submitted, and lets it wait where that cannot run it. It is what the
// others are compared with.
type local struct {
	self grid.NodeID
}

func init() {
	register("local", func(*Config, *grid.Rand) Policy { return &local{} })
}

func (p *local) Poll(_ grid.Time, _ *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	p.self = v.Self
	return dst
}

func (p *local) Choose(_ grid.Time, _ *grid.Task, answers []State) Choice {
	for k := range answers {
		if s := &answers[k]; s.Node == p.self && !math.IsInf(able(s), 1) {
			return Choice{Act: Place, Node: s.Node, ECT: s.ECT}
		}
	}
	return Choice{Act: Wait}
}

func (p *local) Note(Outcome) {}

package node

import (
	"skep/balance"
	"skep/exec"
	"skep/grid"
)

// Scratch is memory that is only used within a step, or has come free. Nodes that never step at the same time can share one.
type Scratch struct {
	view     []balance.State
	poll     []grid.NodeID
	rates    []grid.Rate
	handles  []uint64
	jobs     []*job
	works    []*exec.Work
	met      []met
	shuns    []*blamed // by class, while columns are made
	packed   []byte
	told     []byte
	typical  []float64
	group    []*live
	tasks    []*grid.Task
	choices  []balance.Choice
	answers  [][]balance.State // of decisions that are made: memory for others
	lists    [][]grid.Rate     // of peers whose ads say the same: memory for others
	finals   []uint32
	draft    grid.Ad    // of an own ad, to see whether it is worth making
	conducts []*Conduct // of the nodes
}

// fewConducts are looked through; nodes that are all different share none.
const fewConducts = 16

// conduct returns one that is equal, and lives as long as the scratch.
func (s *Scratch) conduct(c *Conduct) *Conduct {
	for _, own := range s.conducts {
		if *own == *c {
			return own
		}
	}
	own := *c
	if len(s.conducts) < fewConducts {
		s.conducts = append(s.conducts, &own)
	}
	return &own
}

package node

import (
	"skep/balance"
	"skep/exec"
	"skep/grid"
)

// Scratch is memory that is only used within a step, or has come free. Nodes that never step at the same time can share one.
type Scratch struct {
	view       []balance.State
	poll       []grid.NodeID
	rates      []grid.Rate
	handles    []uint64
	jobs       []*job
	works      []*exec.Work
	met        []connectedPeer
	blacklists []*classFailures // by class, while columns are made
	packed     []byte
	told       []byte
	typical    []float64
	group      []*liveTask
	tasks      []*grid.Task
	choices    []balance.Choice
	answers    [][]balance.State // of decisions that are made: memory for others
	lists      [][]grid.Rate     // of peers whose ads say the same: memory for others
	finals     []uint32
	draft      grid.Ad   // of an own ad, to see whether it is worth making
	tunings    []*Tuning // of the nodes
}

// maxSharedTunings are looked through; nodes that are all different share none.
const maxSharedTunings = 16

// tuning returns one that is equal, and lives as long as the scratch.
func (s *Scratch) tuning(c *Tuning) *Tuning {
	for _, own := range s.tunings {
		if *own == *c {
			return own
		}
	}
	own := *c
	if len(s.tunings) < maxSharedTunings {
		s.tunings = append(s.tunings, &own)
	}
	return &own
}

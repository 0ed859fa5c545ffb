package node

import (
	"skep/grid"
	"skep/node/coordinator"
	"skep/node/peers"
	"skep/node/profile"
	"skep/node/rates"
)

// Scratch is memory used only within a step, or free for reuse. Nodes that never step at the same time can share one.
type Scratch struct {
	coordinator coordinator.Scratch
	peers       peers.Scratch
	rates       rates.Scratch
	stated      []profile.StatedLoad
	local       []grid.Message
	tunings     []*Tuning // valid, and shared by the nodes
}

// maxSharedTunings bounds the tunings compared with a new one; nodes that all differ share none.
const maxSharedTunings = 16

// tuning returns a shared tuning equal to c, or says what is wrong with c.
func (s *Scratch) tuning(c *Tuning) (*Tuning, error) {
	for _, own := range s.tunings {
		if *own == *c {
			return own, nil
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	own := *c
	if len(s.tunings) < maxSharedTunings {
		s.tunings = append(s.tunings, &own)
	}
	return &own, nil
}

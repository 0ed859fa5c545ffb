package node

import (
	"skep/balance"
	"skep/grid"
	"skep/node/profile"
	"skep/node/rates"
	"skep/node/reputation"
)

// Scratch is memory used only within a step, or free for reuse. Nodes that never step at the same time can share one.
type Scratch struct {
	view       []balance.State
	poll       []grid.NodeID
	rates      []grid.Rate
	handles    []uint64
	jobs       []*job
	met        []connectedPeer
	blacklists []*reputation.Blacklist // by class, while columns are computed
	packed     []byte
	told       []byte
	rating     rates.Scratch
	group      []*liveTask
	tasks      []*grid.Task
	choices    []balance.Choice
	answers    [][]balance.State // free buffers of finished decisions
	lists      [][]grid.Rate     // free buffers of peers whose rates alias their ads'
	finals     []uint32
	claims     []profile.Claim
	local      []grid.Message
	tunings    []*Tuning // shared by the nodes
}

// maxSharedTunings bounds the tunings compared with a new one; nodes that all differ share none.
const maxSharedTunings = 16

// tuning returns a shared tuning equal to c.
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

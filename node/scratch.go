package node

import (
	"skep/balance"
	"skep/grid"
)

// Scratch is memory that is only used within a step, or has come free. Nodes that never step at the same time can share one.
type Scratch struct {
	view    []balance.State
	poll    []grid.NodeID
	rates   []grid.Rate
	handles []uint64
	jobs    []*job
	met     []met
	packed  []byte
	told    []byte
	typical []float64
	group   []*live
	tasks   []*grid.Task
	choices []balance.Choice
	answers [][]balance.State // of decisions that are made: memory for others
	lists   [][]grid.Rate     // of peers whose ads say the same: memory for others
	finals  []uint32
}

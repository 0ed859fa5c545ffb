package transport

import (
	"errors"
	"time"

	"skep/grid"
)

// Generations keeps what peers say of how far they have saved, and tells them. No method may block.
type Generations interface {
	// Known returns what this node has heard from a peer of itself, and how long ago; nil = nothing.
	Known(n grid.NodeID) (signed []byte, age time.Duration)
	// Told takes what a peer has heard from this node, before anything else that it says; nil = nothing. It reports
	// whether this node may go on.
	Told(by grid.NodeID, signed []byte, age time.Duration) bool

	Up(n grid.NodeID, keeps bool) // a session with a peer has begun; keeps: it has FeatureGenerations
	Down(n grid.NodeID)
	Sent(n grid.NodeID) // a peer is sent a message that may rest on what was saved
}

// noGenerations keeps none.
type noGenerations struct{}

func (noGenerations) Known(grid.NodeID) ([]byte, time.Duration)    { return nil, 0 }
func (noGenerations) Told(grid.NodeID, []byte, time.Duration) bool { return true }
func (noGenerations) Up(grid.NodeID, bool)                         {}
func (noGenerations) Down(grid.NodeID)                             {}
func (noGenerations) Sent(grid.NodeID)                             {}

// errPutBack reports that the peer knows of more than this node's data folder: it was put back to an earlier state.
var errPutBack = errors.New("the data folder was put back to an earlier state")

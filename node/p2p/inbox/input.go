package inbox

import (
	"sync"

	"skep/grid"
)

// pooledAttempts is the number of attempts for which a pooled input keeps room.
const pooledAttempts = 64

// Input is an event for the node, or a function to call between two steps. Inputs are pooled: whoever has one
// either posts it or frees it.
type Input struct {
	Event   grid.Event
	Message grid.Message    // what Event.Msg points to, if it is a message
	Read    func(grid.Time) // not nil: call this instead of stepping Event
	OnFree  func()          // called when it has been stepped, or is freed; may be nil
}

var inputs = sync.Pool{New: func() any { return new(Input) }}

// New returns an empty input.
func New() *Input { return inputs.Get().(*Input) }

// Free returns an input to the pool.
func (in *Input) Free() {
	if in.OnFree != nil {
		in.OnFree()
	}
	in.Event, in.Read, in.OnFree = grid.Event{}, nil, nil
	if cap(in.Message.Attempts) > pooledAttempts {
		in.Message.Attempts = nil
	}
	inputs.Put(in)
}

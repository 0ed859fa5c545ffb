package sim

import "skep/grid"

// Event is a future event, a value of 32 bytes without pointers that the garbage collector does not scan. Larger data
// is in a table of the model that it belongs to, indexed by Arg.
type Event struct {
	At   grid.Time // on the world's clock, 0 or later
	Seq  uint64    // order among events of the same time; unique in a queue
	Arg  uint64    // private to the kind
	Node int32     // index
	Boot uint16    // run of the node that it is for, modulo 2^16
	Kind Kind
	Sub  uint8 // private to the kind
}

// Before reports whether e precedes f: earlier, or at the same time and pushed first.
func (e *Event) Before(f *Event) bool { return e.At < f.At || e.At == f.At && e.Seq < f.Seq }

// Queue is a priority queue ordered by (At, Seq).
type Queue interface {
	// Push adds an event. Its At is not negative.
	Push(e Event)

	// Pop removes the first event and reports whether there was one.
	Pop() (Event, bool)

	// Len is the number of events.
	Len() int
}

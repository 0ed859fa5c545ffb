package sim

import "skep/grid"

// Event is something that will happen, as a value without pointers: 32 bytes that the garbage collector
// does not look into. Whatever is larger lies in a table of the model that it belongs to, and Arg says
// where.
type Event struct {
	At   grid.Time // on the world's clock, 0 or later
	Seq  uint64    // order among events of one time; no two events of a queue share it
	Arg  uint64    // private to the kind
	Node int32     // index of the node that it happens to
	Boot uint16    // the run of that node it was meant for, modulo 2^16
	Kind Kind
	Sub  uint8 // private to the kind
}

// Before reports whether e comes before f: earlier, or of the same time and pushed first.
func (e *Event) Before(f *Event) bool { return e.At < f.At || e.At == f.At && e.Seq < f.Seq }

// Queue gives back events in the order of (At, Seq).
type Queue interface {
	// Push adds an event. Its At is not negative.
	Push(e Event)

	// Pop takes the first event out and reports whether there was one.
	Pop() (Event, bool)

	// Len is the number of events.
	Len() int
}

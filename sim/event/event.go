package event

import "skep/grid"

// Event is a future event, a value of 32 bytes without pointers that the garbage collector does not scan. Larger data
// is in a table of the model that it belongs to, indexed by Arg.
type Event struct {
	At   grid.Time // on the model's clock, 0 or later
	Seq  uint64    // order among events of the same time; unique in a queue
	Arg  uint64    // private to the kind
	Node int32     // index
	Boot uint16    // run of the node that it is for, modulo 2^16
	Kind Kind
	Sub  uint8 // private to the kind
}

// Kind is what happens in an event; each model has its own kinds.
type Kind uint8

// Before reports whether e precedes f: earlier, or at the same time and with a lower Seq.
func (e *Event) Before(f *Event) bool { return e.At < f.At || e.At == f.At && e.Seq < f.Seq }

package sim

import "skep/grid"

// TraceEvent is one call of a node's Step: the node's clock, and a copy of the event.
type TraceEvent struct {
	Now   grid.Time
	Event *grid.Event
}

// tap records the events of a node.
type tap struct {
	node   int32
	most   int
	events []TraceEvent
}

func (t *tap) record(now grid.Time, ev *grid.Event) {
	if len(t.events) < t.most {
		t.events = append(t.events, TraceEvent{Now: now, Event: copyEvent(ev)})
	}
}

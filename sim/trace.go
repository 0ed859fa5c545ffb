package sim

import (
	"time"

	"skep/grid"
)

// TraceEvent is one call of a node's Step: the node's clock, and an event that may be kept.
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

// RecordTrace runs w for a time, or until the node of that index has taken n steps, and returns these
// steps' events. A node made anew from w.NodeConfig takes the same steps, as long as it was not
// restarted in between.
func RecordTrace(w *World, node, n int, within time.Duration) ([]TraceEvent, error) {
	w.tap = tap{node: int32(node), most: n}
	w.recoverPanics(func() {
		for w.fail == nil && len(w.tap.events) < n && w.processNext(grid.Time(within)) {
		}
	})
	events := w.tap.events
	w.tap = tap{node: -1}
	return events, w.err()
}

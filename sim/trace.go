package sim

import (
	"time"

	"skep/grid"
)

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

// RecordTrace runs w for a time, or until node has taken n steps, and returns the events of these steps. A new node
// made from w.NodeConfig takes the same steps, unless the node was restarted in between.
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

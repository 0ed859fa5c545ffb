package sim

import (
	"time"

	"skep/grid"
	"skep/sim/event"
)

// postponeFor is how long postponed records are kept before a commit of their own.
const postponeFor = 20 * time.Millisecond

// allLater reports whether no effect waits for any of the records.
func allLater(records []grid.Record) bool {
	for k := range records {
		if !records[k].Later {
			return false
		}
	}
	return true
}

// postpone keeps records that no effect waits for until the next commit; if effects wait for some, all are written.
func (w *World) postpone(i int32, records []grid.Record) {
	d := &w.hosts[i].disk
	switch {
	case len(records) == 0:
	case !allLater(records):
		w.savePostponed(i)
		w.books.Save(i, records)
	default:
		if len(d.postponed) == 0 {
			w.push(w.now.Add(postponeFor), kindFlush, i, 0, 0)
			if n := len(w.freeRecords); n > 0 {
				d.postponed, w.freeRecords = w.freeRecords[n-1], w.freeRecords[:n-1]
			}
		}
		d.postponed = append(d.postponed, records...)
	}
}

// savePostponed makes postponed records durable.
func (w *World) savePostponed(i int32) {
	d := &w.hosts[i].disk
	w.books.Save(i, d.postponed)
	w.dropPostponed(d)
}

// dropPostponed drops them. Few nodes have any at a time, so the memory is shared.
func (w *World) dropPostponed(d *disk) {
	if cap(d.postponed) > 0 {
		clear(d.postponed)
		w.freeRecords = append(w.freeRecords, d.postponed[:0])
		d.postponed = nil
	}
}

// flushPostponed begins a commit of postponed records, if no other commit has written them.
func (w *World) flushPostponed(e *event.Event) {
	if d := &w.hosts[e.Node].disk; w.isCurrent(e) && len(d.postponed) > 0 && len(d.writing) == 0 {
		w.fx.Reset()
		d.writing = append(d.writing, w.copyEffects(&w.fx))
		w.beginCommit(e.Node)
	}
}

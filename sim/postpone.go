package sim

import (
	"slices"
	"time"

	"skep/grid"
)

// postponeFor is how long records that no effect waits for are kept before they are written by themselves.
const postponeFor = 20 * time.Millisecond

// later reports whether no effect waits for any of the records.
func later(records []grid.Record) bool {
	return !slices.ContainsFunc(records, func(r grid.Record) bool { return !r.Later })
}

// postpone keeps records that no effect waits for until the next commit, which comes soon; if there are others, all are written.
func (w *World) postpone(i int32, records []grid.Record) {
	d := &w.hosts[i].disk
	if len(d.postponed) == 0 && len(records) > 0 && later(records) {
		w.push(w.now.Add(postponeFor), kindFlush, i, 0, 0)
	}
	if d.postponed = append(d.postponed, records...); !later(records) {
		w.savePostponed(i)
	}
}

// savePostponed makes durable what no effect has waited for.
func (w *World) savePostponed(i int32) {
	d := &w.hosts[i].disk
	w.save(i, d.postponed)
	d.postponed = d.postponed[:0]
}

// flushPostponed begins a commit of records that no effect waits for, if they are not part of one.
func (w *World) flushPostponed(e *Event) {
	if d := &w.hosts[e.Node].disk; w.here(e) && len(d.postponed) > 0 && len(d.writing) == 0 {
		w.fx.Reset()
		d.writing = append(d.writing, w.hold(&w.fx))
		w.flush(e.Node)
	}
}

package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/grid"
	"skep/sim/event"
	"skep/sim/stores"
)

// Disk models how nodes' records become durable.
type Disk struct {
	// Sync is how long a commit takes; 0 = no time. Steps taken meanwhile share the next commit, and their effects
	// wait for it. A crash loses what was not committed.
	Sync time.Duration

	// Slow is the factor by which a node's commits take longer; nil = 1 for all.
	Slow func(i int) float64
}

func (d *Disk) check() error {
	if d.Sync < 0 {
		return errors.Join(fmt.Errorf("sim: disk sync %v: want 0 or more", d.Sync))
	}
	return nil
}

// disks are what the disks of all nodes share: buffers of effects that wait for a disk, and of postponed records.
type disks struct {
	freeEffects []*grid.Effects
	freeRecords [][]grid.Record
	stores      *stores.Stores // nil = none is ever put back
	aims        []Aim          // that have not hit
	forgetful   bool           // some aim puts a store back: a copy is taken before each commit, so that this is lost
	refused     int            // starts, since records were not as they were written
}

// disk is a node's records that are about to be written. The oracle's books hold those that are durable.
type disk struct {
	writing   []*grid.Effects // steps whose records the current commit writes
	waiting   []*grid.Effects // steps whose records the next commit writes
	postponed []grid.Record   // records of steps whose effects are released already; written before those
}

// write releases the step's effects at once if nothing has to be written, else after the commit.
func (w *World) write(i int32) {
	d := &w.hosts[i].disk
	if len(d.writing) == 0 && (allLater(w.fx.Saves) || w.cfg.Disk.Sync == 0 && w.hosts[i].stalledUntil <= w.now) {
		w.postpone(i, w.fx.Saves)
		w.release(i, &w.fx)
		return
	}
	for k := range w.fx.Sends {
		if s := &w.fx.Sends[k]; s.Msg.Kind.Early() {
			w.sendChecked(i, s)
		}
	}
	fx := w.copyEffects(&w.fx)
	if len(d.writing) > 0 {
		d.waiting = append(d.waiting, fx)
		return
	}
	d.writing = append(d.writing, fx)
	w.beginCommit(i)
}

func (w *World) beginCommit(i int32) {
	w.aimAt(i, Committing)
	t := float64(w.cfg.Disk.Sync) * w.hosts[i].slow
	if w.cfg.Disk.Slow != nil {
		t *= w.cfg.Disk.Slow(int(i))
	}
	w.push(w.now.Add(time.Duration(t)), kindCommit, i, 0, 0)
}

// endCommit makes the commit's records durable and releases its effects, and the following ones that save nothing.
func (w *World) endCommit(e *event.Event) {
	if !w.isCurrent(e) {
		return
	}
	h := &w.hosts[e.Node]
	if until := max(h.stalledUntil, h.pausedUntil); until > w.now {
		w.push(until, kindCommit, e.Node, 0, 0)
		return
	}
	d := &h.disk
	if w.forgetful && !w.forgets(e.Node) {
		w.stores.Copy(e.Node, w.books.Records(e.Node, nil))
	}
	w.savePostponed(e.Node)
	for _, fx := range d.writing {
		w.save(e.Node, fx.Saves)
	}
	done := d.writing
	d.writing, d.waiting = d.waiting, done[:0]
	saves := slices.ContainsFunc(d.writing, func(fx *grid.Effects) bool { return !allLater(fx.Saves) })
	for _, fx := range done {
		w.release(e.Node, fx)
		w.freeEffects = append(w.freeEffects, fx)
	}
	if saves {
		w.beginCommit(e.Node)
		return
	}
	for _, fx := range d.writing {
		w.postpone(e.Node, fx.Saves)
		w.release(e.Node, fx)
		w.freeEffects = append(w.freeEffects, fx)
	}
	d.writing = d.writing[:0]
}

// loseUnwritten is a crash's effect on the disk: the commit under way is durable or not, at random, and none of its
// effects or later ones were released. The same holds for postponed records, whose effects were.
func (w *World) loseUnwritten(i int32) {
	d := &w.hosts[i].disk
	if len(d.writing)+len(d.postponed) > 0 && w.rng.IntN(2) == 0 {
		w.savePostponed(i)
		for _, fx := range d.writing {
			w.save(i, fx.Saves)
		}
	}
	w.freeEffects = append(append(w.freeEffects, d.writing...), d.waiting...)
	d.writing, d.waiting = d.writing[:0], d.waiting[:0]
	w.dropPostponed(d)
}

// writeAll makes all records durable that a node's disk is to write.
func (w *World) writeAll(i int32) {
	w.savePostponed(i)
	d := &w.hosts[i].disk
	for _, fx := range slices.Concat(d.writing, d.waiting) {
		w.save(i, fx.Saves)
	}
}

// failCommit has the commit of a node's disk fail for want of room: nothing of it is written, and the node stops.
func (w *World) failCommit(i int32) {
	d := &w.hosts[i].disk
	if len(d.writing) == 0 {
		return
	}
	w.freeEffects = append(append(w.freeEffects, d.writing...), d.waiting...)
	d.writing, d.waiting = d.writing[:0], d.waiting[:0]
	w.dropPostponed(d)
	w.crash(i)
}

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
		w.save(i, records)
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
	w.save(i, d.postponed)
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

// setDiskFull tells a node whether its disk is nearly full.
func (w *World) setDiskFull(i int32, full bool) {
	h := &w.hosts[i]
	changed := h.full != full
	h.full = full
	if changed && h.up {
		w.ev = grid.Event{Kind: grid.EvDisk, Low: full}
		w.step(i, &w.ev)
	}
}

// reportTooLate tells a node which attempts its disk delayed beyond their start lease.
func (w *World) reportTooLate(e *event.Event) {
	if !w.isCurrent(e) {
		return
	}
	h := &w.hosts[e.Node]
	late := h.startedTooLate
	h.startedTooLate = nil
	for _, id := range late {
		w.ev = grid.Event{Kind: grid.EvLate, Attempt: id}
		w.step(e.Node, &w.ev)
	}
}

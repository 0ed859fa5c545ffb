package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/grid"
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

// disk is a node's durable records, and those about to be written. The records of a job and a task are kept with the
// oracle's job and task; work records are in a table, chained by node and by task.
type disk struct {
	jobs      int32 // chain of the submissions with this origin, from 1
	workChain int32 // chain of work records, from 1
	workCount int32 // length of that chain
	classes   []grid.ClassRecord
	replicas  []*replica // sorted by submission

	writing   []*grid.Effects // steps whose records the current commit writes
	waiting   []*grid.Effects // steps whose records the next commit writes
	postponed []grid.Record   // records of steps whose effects are released already; written before those
}

// workRecord is the record of an accepted attempt on a node's disk.
type workRecord struct {
	rec        grid.WorkRecord
	node, task int32
	nodeChain  [2]int32 // previous and next in the node's chain, from 1; next also chains free entries
	nextOfTask int32    // next in the task's chain, from 1
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
	t := float64(w.cfg.Disk.Sync) * w.hosts[i].slow
	if w.cfg.Disk.Slow != nil {
		t *= w.cfg.Disk.Slow(int(i))
	}
	w.push(w.now.Add(time.Duration(t)), kindCommit, i, 0, 0)
}

// endCommit makes the commit's records durable and releases its effects, and the following ones that save nothing.
func (w *World) endCommit(e *Event) {
	if !w.isCurrent(e) {
		return
	}
	h := &w.hosts[e.Node]
	if until := max(h.stalledUntil, h.pausedUntil); until > w.now {
		w.push(until, kindCommit, e.Node, 0, 0)
		return
	}
	d := &h.disk
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

// save makes records durable.
func (w *World) save(i int32, records []grid.Record) {
	d := &w.hosts[i].disk
	for k := range records {
		r := &records[k]
		w.checkSave(i, r)
		switch r.Kind {
		case grid.RecJob:
			if n := w.job(i, r.Job.ID); n >= 0 {
				j := &w.jobs[n]
				j.saved, j.submitted, j.cancelled = !r.Delete, r.Job.Submitted, r.Job.Cancelled
			}
		case grid.RecTask:
			if k := w.task(i, r.Task.ID.Task); k >= 0 {
				w.tasks[k].saved = !r.Delete
			}
		case grid.RecWork:
			n := d.workCount
			w.storeWork(i, r)
			if j := w.task(i, r.Work.ID.Task); w.settled && j >= 0 && w.mustEnd(&w.jobs[w.tasks[j].job]) {
				w.recordsLeft += int(d.workCount - n)
			}
		case grid.RecRegister:
			w.storeRegister(i, r)
		case grid.RecEntry:
			w.storeEntry(i, r)
		case grid.RecClass:
			d.storeClass(&r.Class, r.Delete)
		}
	}
}

// workOf returns the index of a work record on a node's disk, from 1; 0 = none.
func (w *World) workOf(i, task int32, id grid.AttemptID) int32 {
	for at := w.tasks[task].workChain; at != 0; at = w.workRecords[at-1].nextOfTask {
		if x := &w.workRecords[at-1]; x.node == i && x.rec.ID == id {
			return at
		}
	}
	return 0
}

func (w *World) storeWork(i int32, r *grid.Record) {
	k := w.task(i, r.Work.ID.Task)
	if k < 0 {
		return
	}
	d := &w.hosts[i].disk
	at := w.workOf(i, k, r.Work.ID)
	switch {
	case at != 0 && r.Delete:
		w.deleteWork(at)
	case at != 0:
		w.workRecords[at-1].rec = r.Work
	case !r.Delete:
		if w.freeRecord == 0 {
			w.workRecords = append(w.workRecords, workRecord{})
			w.freeRecord = int32(len(w.workRecords))
		}
		at = w.freeRecord
		x := &w.workRecords[at-1]
		w.freeRecord = x.nodeChain[1]
		*x = workRecord{rec: r.Work, node: i, task: k, nodeChain: [2]int32{0, d.workChain}, nextOfTask: w.tasks[k].workChain}
		if d.workChain != 0 {
			w.workRecords[d.workChain-1].nodeChain[0] = at
		}
		d.workChain, w.tasks[k].workChain = at, at
		d.workCount++
	}
}

func (w *World) deleteWork(at int32) {
	x := &w.workRecords[at-1]
	d := &w.hosts[x.node].disk
	if before := x.nodeChain[0]; before != 0 {
		w.workRecords[before-1].nodeChain[1] = x.nodeChain[1]
	} else {
		d.workChain = x.nodeChain[1]
	}
	if after := x.nodeChain[1]; after != 0 {
		w.workRecords[after-1].nodeChain[0] = x.nodeChain[0]
	}
	link := &w.tasks[x.task].workChain
	for *link != at {
		link = &w.workRecords[*link-1].nextOfTask
	}
	*link = x.nextOfTask
	d.workCount--
	*x = workRecord{nodeChain: [2]int32{0, w.freeRecord}}
	w.freeRecord = at
}

// storeClass makes the record of a class durable, or deletes it; sorted by name.
func (d *disk) storeClass(c *grid.ClassRecord, forget bool) {
	at, ok := slices.BinarySearchFunc(d.classes, c.Class, func(x grid.ClassRecord, name string) int { return cmp.Compare(x.Class, name) })
	switch {
	case ok && forget:
		d.classes = slices.Delete(d.classes, at, at+1)
	case ok:
		d.classes[at] = *c
	case !forget:
		d.classes = slices.Insert(d.classes, at, *c)
	}
}

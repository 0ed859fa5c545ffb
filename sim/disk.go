package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/grid"
)

// Disk is how nodes' records become durable.
type Disk struct {
	// Sync is how long a commit takes; 0 = none. Steps taken meanwhile share the next commit, and the
	// effects of all wait for theirs. A crash loses what was not committed.
	Sync time.Duration

	// Slow is by what factor a node's commits take longer; nil = 1 for all.
	Slow func(i int) float64
}

func (d *Disk) check() error {
	if d.Sync < 0 {
		return errors.Join(fmt.Errorf("sim: disk sync %v: want 0 or more", d.Sync))
	}
	return nil
}

// disk is what a node has written, and what it is about to write. Records lie in the books: a job's and a
// task's with the job and task, of which there is one; work in a table, chained by node and by task.
type disk struct {
	jobs    int32 // chain of submissions whose origin this is, from 1
	works   int32 // chain of work records, from 1
	work    int32 // their number
	classes []grid.ClassRecord
	wards   []*ward // by submission

	writing   []*grid.Effects // steps whose records the current commit writes
	waiting   []*grid.Effects // steps that wait for the next one
	postponed []grid.Record   // of steps whose effects are out; written before those
}

// accepted is the record of an accepted attempt on the disk of a node.
type accepted struct {
	rec        grid.WorkRecord
	node, task int32
	here       [2]int32 // before and after in the node's chain, from 1; after also chains the unused
	same       int32    // after in the task's chain, from 1
}

// write takes the step's effects: out at once where nothing has to be written, else after the commit.
func (w *World) write(i int32) {
	d := &w.hosts[i].disk
	if len(d.writing) == 0 && (later(w.fx.Saves) || w.cfg.Disk.Sync == 0 && w.hosts[i].stalled <= w.now) {
		w.postpone(i, w.fx.Saves)
		w.release(i, &w.fx)
		return
	}
	for k := range w.fx.Sends {
		if s := &w.fx.Sends[k]; s.Msg.Kind.Early() {
			w.say(i, s)
		}
	}
	fx := w.hold(&w.fx)
	if len(d.writing) > 0 {
		d.waiting = append(d.waiting, fx)
		return
	}
	d.writing = append(d.writing, fx)
	w.flush(i)
}

// flush begins a commit.
func (w *World) flush(i int32) {
	t := float64(w.cfg.Disk.Sync) * w.hosts[i].slow
	if w.cfg.Disk.Slow != nil {
		t *= w.cfg.Disk.Slow(int(i))
	}
	w.push(w.now.Add(time.Duration(t)), kindCommit, i, 0, 0)
}

// commit ends a commit: its records are durable, its effects and those behind them that save nothing go out.
func (w *World) commit(e *Event) {
	if !w.here(e) {
		return
	}
	h := &w.hosts[e.Node]
	if until := max(h.stalled, h.paused); until > w.now {
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
	saves := slices.ContainsFunc(d.writing, func(fx *grid.Effects) bool { return !later(fx.Saves) })
	for _, fx := range done {
		w.release(e.Node, fx)
		w.spare = append(w.spare, fx)
	}
	if saves {
		w.flush(e.Node)
		return
	}
	for _, fx := range d.writing {
		w.postpone(e.Node, fx.Saves)
		w.release(e.Node, fx)
		w.spare = append(w.spare, fx)
	}
	d.writing = d.writing[:0]
}

// loseUnwritten is what a crash does: the commit under way has come to the disk or not, nobody can tell,
// and nothing of it or after it got out. Nor can they of what no effect has waited for.
func (w *World) loseUnwritten(i int32) {
	d := &w.hosts[i].disk
	if len(d.writing)+len(d.postponed) > 0 && w.chance.IntN(2) == 0 {
		w.savePostponed(i)
		for _, fx := range d.writing {
			w.save(i, fx.Saves)
		}
	}
	w.spare = append(append(w.spare, d.writing...), d.waiting...)
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
			n := d.work
			w.keepWork(i, r)
			if j := w.task(i, r.Work.ID.Task); w.settled && j >= 0 && w.mustEnd(&w.jobs[w.tasks[j].job]) {
				w.work += int(d.work - n)
			}
		case grid.RecRegister:
			w.keepGuard(i, r)
		case grid.RecEntry:
			w.keepEntry(i, r)
		case grid.RecClass:
			d.keepClass(&r.Class, r.Delete)
		}
	}
}

// workOf returns the place of a record of work on a node's disk, from 1; 0 = there is none.
func (w *World) workOf(i, task int32, id grid.AttemptID) int32 {
	for at := w.tasks[task].works; at != 0; at = w.works[at-1].same {
		if x := &w.works[at-1]; x.node == i && x.rec.ID == id {
			return at
		}
	}
	return 0
}

func (w *World) keepWork(i int32, r *grid.Record) {
	k := w.task(i, r.Work.ID.Task)
	if k < 0 {
		return
	}
	d := &w.hosts[i].disk
	at := w.workOf(i, k, r.Work.ID)
	switch {
	case at != 0 && r.Delete:
		w.forgetWork(at)
	case at != 0:
		w.works[at-1].rec = r.Work
	case !r.Delete:
		if w.freeWork == 0 {
			w.works = append(w.works, accepted{})
			w.freeWork = int32(len(w.works))
		}
		at = w.freeWork
		x := &w.works[at-1]
		w.freeWork = x.here[1]
		*x = accepted{rec: r.Work, node: i, task: k, here: [2]int32{0, d.works}, same: w.tasks[k].works}
		if d.works != 0 {
			w.works[d.works-1].here[0] = at
		}
		d.works, w.tasks[k].works = at, at
		d.work++
	}
}

func (w *World) forgetWork(at int32) {
	x := &w.works[at-1]
	d := &w.hosts[x.node].disk
	if before := x.here[0]; before != 0 {
		w.works[before-1].here[1] = x.here[1]
	} else {
		d.works = x.here[1]
	}
	if after := x.here[1]; after != 0 {
		w.works[after-1].here[0] = x.here[0]
	}
	link := &w.tasks[x.task].works
	for *link != at {
		link = &w.works[*link-1].same
	}
	*link = x.same
	d.work--
	*x = accepted{here: [2]int32{0, w.freeWork}}
	w.freeWork = at
}

// keepClass keeps what a node has learnt of a class, by name.
func (d *disk) keepClass(c *grid.ClassRecord, forget bool) {
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

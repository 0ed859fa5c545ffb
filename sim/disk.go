package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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

// disk is what a node has written, and what it is about to write.
type disk struct {
	jobs    map[grid.JobID]grid.JobRecord
	tasks   map[grid.TaskID]grid.TaskRecord
	work    map[grid.AttemptID]grid.WorkRecord
	classes map[string]grid.ClassRecord

	writing []*grid.Effects // steps whose records the current commit writes
	waiting []*grid.Effects // steps that wait for the next one
}

// write takes the step's effects: out at once where nothing has to be written, else after the commit.
func (w *World) write(i int32) {
	d := &w.hosts[i].disk
	if len(d.writing) == 0 && (len(w.fx.Saves) == 0 || w.cfg.Disk.Sync == 0) {
		w.save(i, w.fx.Saves)
		w.release(i, &w.fx)
		return
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
	d := &w.hosts[e.Node].disk
	for _, fx := range d.writing {
		w.save(e.Node, fx.Saves)
	}
	done := d.writing
	d.writing, d.waiting = d.waiting, done[:0]
	saves := slices.ContainsFunc(d.writing, func(fx *grid.Effects) bool { return len(fx.Saves) > 0 })
	for _, fx := range done {
		w.release(e.Node, fx)
		w.spare = append(w.spare, fx)
	}
	if saves {
		w.flush(e.Node)
		return
	}
	for _, fx := range d.writing {
		w.release(e.Node, fx)
		w.spare = append(w.spare, fx)
	}
	d.writing = d.writing[:0]
}

// loseUnwritten is what a crash does: the commit under way has come to the disk or not, nobody can tell,
// and nothing of it or after it got out.
func (w *World) loseUnwritten(i int32) {
	d := &w.hosts[i].disk
	if len(d.writing) > 0 && w.chance.IntN(2) == 0 {
		for _, fx := range d.writing {
			w.save(i, fx.Saves)
		}
	}
	w.spare = append(append(w.spare, d.writing...), d.waiting...)
	d.writing, d.waiting = d.writing[:0], d.waiting[:0]
}

// save makes records durable.
func (w *World) save(i int32, records []grid.Record) {
	d := &w.hosts[i].disk
	for k := range records {
		r := &records[k]
		w.checkSave(i, r)
		switch r.Kind {
		case grid.RecJob:
			keep(&d.jobs, r.Job.ID, &r.Job, r.Delete)
		case grid.RecTask:
			keep(&d.tasks, r.Task.ID.Task, &r.Task, r.Delete)
		case grid.RecWork:
			n := len(d.work)
			keep(&d.work, r.Work.ID, &r.Work, r.Delete)
			if j := w.task(i, r.Work.ID.Task); w.settled && j >= 0 && w.mustEnd(&w.jobs[w.tasks[j].job]) {
				w.work += len(d.work) - n
			}
		case grid.RecClass:
			keep(&d.classes, r.Class.Class, &r.Class, r.Delete)
		}
	}
}

func keep[K comparable, V any](m *map[K]V, key K, v *V, forget bool) {
	if forget {
		delete(*m, key)
		return
	}
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = *v
}

// restore gives a new run the records of the former ones, in an order that nobody may rely on.
func (w *World) restore(i int32) {
	h := &w.hosts[i]
	var records []grid.Record
	for _, k := range slices.SortedFunc(maps.Keys(h.disk.jobs), grid.JobID.Compare) {
		records = append(records, grid.Record{Kind: grid.RecJob, Job: h.disk.jobs[k]})
	}
	for _, k := range slices.SortedFunc(maps.Keys(h.disk.tasks), compareTask) {
		records = append(records, grid.Record{Kind: grid.RecTask, Task: h.disk.tasks[k]})
	}
	for _, k := range slices.SortedFunc(maps.Keys(h.disk.work), compareAttempt) {
		records = append(records, grid.Record{Kind: grid.RecWork, Work: h.disk.work[k]})
	}
	for _, k := range slices.Sorted(maps.Keys(h.disk.classes)) {
		records = append(records, grid.Record{Kind: grid.RecClass, Class: h.disk.classes[k]})
	}
	w.chance.Shuffle(len(records), func(a, b int) { records[a], records[b] = records[b], records[a] })
	for k := range records {
		w.digest.record(&records[k])
		h.member.Restore(&records[k])
	}
}

func compareTask(a, b grid.TaskID) int {
	return cmp.Or(a.Job.Compare(b.Job), cmp.Compare(a.Index, b.Index))
}

func compareAttempt(a, b grid.AttemptID) int {
	return cmp.Or(compareTask(a.Task, b.Task), cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.N, b.N))
}

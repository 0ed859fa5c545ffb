package sim

import (
	"slices"
	"time"

	"skep/grid"
	"skep/sim/event"
	"skep/sim/oracle"
)

// Checkpoints of simulated tasks. A task consists of oracle.Parts equal parts, and its state is how many are done: that
// is checkpoint K after part K. It closes those that it has got to now and then, and an attempt that begins from one
// has that part of its work done. The parts are the iterations that it tells of as its progress.

// saving is what a run has closed.
type saving struct {
	every  time.Duration // 0 = it closes none
	name   uint32        // of the run, in events
	full   time.Duration // of the whole task at full speed
	newest uint64        // that it has closed, or began from
	closed []uint64      // and its driver keeps
	tells  bool
	quiet  grid.Time // before, its driver passes no progress on
}

// taking is a request to store a checkpoint's files.
type taking struct {
	grid.Take
	next int32 // in the free list
}

// takings are the requests of all nodes.
type takings struct {
	takings    []taking
	freeTaking int32
	saved      uint32 // name of the last run that closes checkpoints
}

// beginFrom has a run close checkpoints, if its task does, and begin from the one that it was given.
func (w *World) beginFrom(name int32, r *run, from uint64) {
	every := w.cfg.Work[r.job].Checkpoint
	if every == 0 {
		return
	}
	w.saved++
	r.saving = saving{every: every, name: w.saved, full: r.duration, newest: from,
		tells: w.cfg.Work[r.job].Tells}
	r.duration -= time.Duration(float64(r.duration) * float64(from) / oracle.Parts)
	w.push(w.now.Add(w.cfg.Machine.Overhead+every), kindSaves, r.node, 0, packRef(name, w.saved))
}

// saves has a run close the checkpoints that it has got to.
func (w *World) saves(e *event.Event) {
	at, name := unpackRef(e.Arg)
	r := &w.runs[at]
	if r.saving.name != name || r.stopping {
		return
	}
	w.push(w.now.Add(r.saving.every), kindSaves, e.Node, 0, e.Arg)
	if !r.executing || r.suspended {
		return
	}
	left := float64(r.remaining - r.progress(w.now, w.speedOf(r)))
	done := min(uint64(oracle.Parts*(1-max(left, 0)/float64(r.saving.full))), oracle.Parts-1)
	w.closeUpTo(at, done)
	w.tell(at, name, done)
}

// closeUpTo has a run close the checkpoints that it has got to.
func (w *World) closeUpTo(name int32, done uint64) {
	r := &w.runs[name]
	var steps []uint64
	for k := r.saving.newest + 1; k <= done; k++ {
		steps = append(steps, k)
		w.books.Closed(r.task, r.id.Attempt, k)
	}
	if len(steps) == 0 {
		return
	}
	r.saving.newest = done
	if len(steps) > grid.MaxClosed {
		steps = steps[len(steps)-grid.MaxClosed:]
	}
	r.saving.closed = append(r.saving.closed, steps...)
	w.checkpointed(r.node, r.id, &grid.Checkpoint{Closed: steps})
}

// tell has a run say how many of its parts are done, unless it has ended meanwhile.
func (w *World) tell(at int32, name uint32, done uint64) {
	r := &w.runs[at]
	if r.saving.name != name || !r.saving.tells || r.stopping || w.now < r.saving.quiet {
		return
	}
	r.saving.quiet = w.now.Add(grid.ProgressEvery)
	w.ev = grid.Event{Kind: grid.EvProgress, Attempt: r.id}
	w.ev.Progress = &grid.Progress{Done: float64(done), Total: oracle.Parts}
	w.step(r.node, &w.ev)
}

func (w *World) checkpointed(i int32, id grid.AttemptID, x *grid.Checkpoint) {
	w.ev = grid.Event{Kind: grid.EvCheckpoint, Attempt: id, OfAttempt: grid.OfAttempt{Checkpoint: x}}
	w.step(i, &w.ev)
}

// runOf returns the run of an attempt on a node, nil if none is there.
func (w *World) runOf(i int32, id grid.AttemptID) (name int32, r *run) {
	for name = w.hosts[i].runs; name >= 0; name = w.runs[name].nextOnNode {
		if r = &w.runs[name]; r.id == id {
			return name, r
		}
	}
	return -1, nil
}

// maxTaking bounds how long it takes to store the files of a checkpoint.
const maxTaking = 500 * time.Millisecond

// take removes what a node does not want to be kept, and begins to store a checkpoint's files.
func (w *World) take(i int32, x *grid.Take) {
	_, r := w.runOf(i, x.Attempt)
	if r == nil || r.stopping {
		return
	}
	r.saving.closed = slices.DeleteFunc(r.saving.closed, func(k uint64) bool {
		return k <= x.Known && !slices.Contains(x.Keep, k)
	})
	if x.Step == 0 {
		return
	}
	if w.freeTaking == 0 {
		w.takings.takings = append(w.takings.takings, taking{})
		w.freeTaking = int32(len(w.takings.takings))
	}
	at := w.freeTaking - 1
	t := &w.takings.takings[at]
	w.freeTaking = t.next
	*t = taking{Take: *x}
	after := time.Duration(splitmix(uint64(r.saving.name)<<20+x.Step) % uint64(maxTaking))
	w.push(w.now.Add(after), kindTaken, i, 0, uint64(at))
}

// taken tells a node of the files of a checkpoint, or that it is not there any more.
func (w *World) taken(e *event.Event) {
	at := int32(e.Arg)
	t := w.takings.takings[at]
	w.takings.takings[at] = taking{next: w.freeTaking}
	w.freeTaking = at + 1
	if !w.isCurrent(e) {
		return
	}
	_, r := w.runOf(e.Node, t.Attempt)
	if r == nil || r.stopping {
		return
	}
	x := &grid.Checkpoint{Step: t.Step}
	if slices.Contains(r.saving.closed, t.Step) {
		f := oracle.CheckpointFile(r.task, r.id.Attempt, t.Step)
		w.putBlob(e.Node, f.Blob)
		x.Files = []grid.File{f}
	} else {
		x.Refusal = grid.Refusal{Why: grid.WhyFailed, Detail: "it is not there any more"}
	}
	w.checkpointed(e.Node, t.Attempt, x)
}

package sim

import (
	"errors"
	"fmt"
	"time"

	"skep/exec/proportional"
	"skep/grid"
	"skep/sim/event"
)

// Machine models how tasks run and files are transferred.
type Machine struct {
	// Rate is how many tasks of mean size of a class a slot of a node completes in a second; 0 = it cannot execute
	// them. Nil = 1 for all.
	Rate func(class string, node int) float64

	// Size draws the size of a task, with mean 1; nil = 1 for all. A task has the same size on every node and in every
	// attempt, in every run of a seed.
	Size Distribution

	// Sizes are the distributions of classes that have one of their own.
	Sizes map[string]Distribution

	// End returns how an attempt ends; nil = it exits with 0.
	End func(a grid.AttemptID, class string, node int) Ending

	// Overhead is the time from the start to the program's first instruction; 0 = 1 ms.
	Overhead time.Duration

	// Stop returns how long an attempt that is told to end continues; nil = it ends at once.
	Stop func(a grid.AttemptID) time.Duration

	// Bandwidth is how many bytes of a file are transferred in a second; 0 = 100 MiB. A blob is transferred once.
	Bandwidth grid.Bytes

	// Parallel is what the ranks of some gangs execute; nil = each runs by itself, as a task does.
	Parallel *Parallel
}

// Ending is how an attempt ends.
type Ending struct {
	Cause grid.Cause // 0 = Exited
	Exit  int32
	Hangs bool // it runs until it is stopped or reaches its time limit
}

func (m *Machine) defaults() {
	if m.Rate == nil {
		m.Rate = func(string, int) float64 { return 1 }
	}
	if m.Size == nil {
		m.Size = Deterministic()
	}
	if m.End == nil {
		m.End = func(grid.AttemptID, string, int) Ending { return Ending{} }
	}
	if m.Overhead == 0 {
		m.Overhead = time.Millisecond
	}
	if m.Bandwidth == 0 {
		m.Bandwidth = 100 * grid.MiB
	}
}

func (m *Machine) check() error {
	if m.Overhead < 0 || m.Bandwidth < 0 {
		return errors.Join(fmt.Errorf("sim: machine: overhead %v, bandwidth %d bytes/s: want 0 for the default, or more",
			m.Overhead, m.Bandwidth))
	}
	return nil
}

// machines holds the runs and transfers of all nodes.
type machines struct {
	runs         []run
	freeRun      int32 // free list of runs, from 1
	transfers    []transfer
	freeTransfer int32
	sharers      []proportional.Task // scratch
	parallel     *parallel           // nil = no gang has ranks that communicate
	takings
}

// run is an attempt that runs on a node.
type run struct {
	id          grid.AttemptID
	spec        *grid.JobSpec
	node        int32
	job, task   int32 // indices over all submissions
	gen         uint32
	began       grid.Time     // when it was started, then when its process began to execute; later by what it stood
	duration    time.Duration // at full speed
	remaining   time.Duration // of duration, at remainingAt
	remainingAt grid.Time     // time at which remaining was computed
	executing   bool          // its process runs
	timesOut    bool          // its scheduled end is its time limit
	ending      Ending
	stopping    bool // told to end
	standing
	saving     saving
	nextOnNode int32 // next run of the node, −1 = last; in the free list from 1
	places     []grid.RankPlace
	weight     float64 // for each core that it needs, beside others that share the cores; 0 = it has its cores to itself
}

// startRun starts an attempt.
func (w *World) startRun(i int32, s *grid.Start) {
	w.checkRunnable(i, s)
	job, task, ok := w.books.Start(i, s)
	if !ok {
		return
	}
	if w.freeRun == 0 {
		w.runs = append(w.runs, run{})
		w.freeRun = int32(len(w.runs))
	}
	name := w.freeRun - 1
	r := &w.runs[name]
	w.freeRun = r.nextOnNode
	h := &w.hosts[i]
	*r = run{id: s.Attempt, spec: s.Spec, node: i, job: job, task: task, gen: r.gen + 1, began: w.now, nextOnNode: h.runs,
		places: s.Places, weight: s.Weight}
	h.runs = name
	h.used = h.used.Plus(s.Spec.Needs.Resources)
	w.updateSpeed(i)
	class := grid.ClassOf(w.cfg.Work[job].Spec)
	rate := w.cfg.Machine.Rate(class, int(i))
	r.ending = w.cfg.Machine.End(s.Attempt, class, int(i))
	if rate <= 0 {
		r.ending = Ending{Cause: grid.CannotExecute, Exit: grid.ExitCannotExecute}
	}
	at := w.now.Add(w.cfg.Machine.Overhead)
	if r.ending.Cause.Refused() {
		w.push(at, kindEnded, i, 0, packRef(name, r.gen))
		return
	}
	w.books.Executes(task)
	r.ending.Hangs = r.ending.Hangs || w.parallel.runs(class)
	r.duration = grid.Seconds(w.taskSize(job, task, class) / (rate * s.Spec.Speedup()) * h.slow)
	w.beginFrom(name, r, w.books.Begins(task, s))
	w.push(at, kindStarted, i, 0, packRef(name, r.gen))
}

// taskSize returns the size of a task; it does not depend on the node.
func (w *World) taskSize(job, task int32, class string) float64 {
	if s := w.cfg.Work[job].Size; s > 0 {
		return s
	}
	w.size.Seed(w.cfg.Seed, uint64(task))
	return w.cfg.Machine.draw(class, w.sizes)
}

// currentRun returns the run that an event is about, nil if it has ended.
func (w *World) currentRun(e *event.Event) (int32, *run) {
	name, gen := unpackRef(e.Arg)
	if r := &w.runs[name]; r.gen == gen {
		return name, r
	}
	return name, nil
}

func (w *World) runStarted(e *event.Event) {
	name, r := w.currentRun(e)
	if r == nil || r.stopping {
		return
	}
	r.began, r.remainingAt, r.remaining, r.executing, r.stood = w.now, w.now, r.duration, true, 0
	if r.suspended {
		r.suspendedAt = w.now
	} else {
		w.scheduleEnd(e.Node, name)
	}
	w.rankBegan(name)
	w.ev = grid.Event{Kind: grid.EvStarted, Attempt: r.id}
	w.step(e.Node, &w.ev)
}

func (w *World) runEnded(e *event.Event) {
	name, r := w.currentRun(e)
	if r == nil {
		return
	}
	if r.timesOut {
		r.ending = Ending{Cause: grid.TimedOut, Exit: grid.ExitTimedOut}
	}
	cause := r.ending.Cause
	if cause == 0 {
		cause = grid.Exited
	}
	ran := w.now.Sub(r.began)
	result := &grid.Result{Cause: cause, Exit: r.ending.Exit, Wall: ran + r.stood, CPU: ran}
	if r.weight > 0 {
		result.CPU = grid.Seconds(r.busy(w.now, w.speedOf(r)))
	}
	if r.stopping {
		result = nil
	} else if len(r.spec.Outputs) > 0 && cause == grid.Exited {
		result.Outputs = w.outputs(r.node, r.task, r.id.Attempt)
	}
	id := r.id
	w.books.Ran(r.task, id.Attempt, result)
	w.removeRun(name)
	w.ev = grid.Event{Kind: grid.EvEnded, Attempt: id, Result: result}
	w.step(e.Node, &w.ev)
}

// stopRun ends an attempt early. The node is told when it has ended.
func (w *World) stopRun(i int32, s *grid.Stop) {
	name, r := w.runOf(i, s.Attempt)
	if r == nil || r.stopping {
		return
	}
	at := w.now
	if stop := w.cfg.Machine.Stop; stop != nil {
		at = at.Add(stop(r.id))
	}
	r.stopping = true
	w.push(at, kindEnded, i, 0, packRef(name, r.gen))
}

// removeRun frees a run.
func (w *World) removeRun(name int32) {
	r := &w.runs[name]
	h := &w.hosts[r.node]
	at := &h.runs
	for *at != name {
		at = &w.runs[*at].nextOnNode
	}
	*at = r.nextOnNode
	w.books.End(r.node, r.task, r.id.Attempt)
	h.used = h.used.Minus(r.taken())
	h.busy += r.busy(w.now, w.speedOf(r))
	w.rankGone(r)
	r.gen++
	i := r.node
	r.spec, r.places, r.executing, r.saving = nil, nil, false, saving{}
	r.nextOnNode, w.freeRun = w.freeRun, name+1
	w.updateSpeed(i)
}

// killRuns ends all runs of a node that crashed.
func (w *World) killRuns(i int32) {
	for w.hosts[i].runs >= 0 {
		w.removeRun(w.hosts[i].runs)
	}
}

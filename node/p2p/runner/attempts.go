package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"skep/exec/process"
	"skep/grid"
	"skep/node/p2p/clock"
)

// attempt is an accepted attempt, until its result is acknowledged.
type attempt struct {
	id           grid.AttemptID
	spec         *grid.JobSpec
	members      []grid.NodeID // of its job's register, as offered; nil = it has none
	accepted     grid.Time
	pinned       bool          // its inputs are pinned
	resultFiles  []grid.File   // files of its result, pinned
	dir          string        // its folder; set by the first start
	argv         []string      // argv to execute; nil until the folder is prepared
	processKnown chan struct{} // closed when there is a process, or none will come

	// Guarded by Runner.mu.
	started      bool // by Start: a goroutine runs it
	process      *process.Process
	cancelInputs context.CancelFunc // ends fetching and placing its inputs; may be nil
	dropped      bool               // dropped: its folder is removed when its goroutine ends
	ended        bool               // its goroutine has ended
}

// newFolder returns a new folder for an attempt. The count distinguishes it from a former folder of the same
// attempt that is still being removed.
func (r *Runner) newFolder(id grid.AttemptID) string {
	r.folders++
	task := id.Task
	return filepath.Join(r.dir, fmt.Sprintf("%s-%d-%d.%d-%d", task.Job.Short(), task.Index, id.Epoch, id.N, r.folders))
}

// removeFolders removes folders in the background.
func (r *Runner) removeFolders() {
	for dir := range r.remove {
		if err := r.processes.Remove(dir); err != nil {
			r.cfg.Log.Warn("work folder not removed", "error", err)
		}
	}
}

// get returns the attempt, a new one if there is none.
func (r *Runner) get(id grid.AttemptID, spec *grid.JobSpec) *attempt {
	a := r.m[id]
	if a == nil {
		a = &attempt{id: id, spec: spec, accepted: clock.Now(), processKnown: make(chan struct{})}
		r.m[id] = a
	}
	return a
}

// Start runs an attempt.
func (r *Runner) Start(s grid.Start) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.get(s.Attempt, s.Spec)
	if r.closed || a.started {
		return
	}
	if a.started = true; a.dir == "" {
		a.dir = r.newFolder(a.id)
	}
	r.wait.Go(func() { r.run(a, s) })
}

// Fetch fetches the files of an attempt: its inputs, until it is dropped, or those of its result.
func (r *Runner) Fetch(x grid.Fetch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ctx := r.ctx
	if a := r.m[x.Attempt]; a != nil && !a.started && !x.Deposit {
		ctx, a.cancelInputs = context.WithCancel(ctx)
	}
	r.fetchFiles(ctx, x)
}

// Stop ends an attempt. The node is told when that has happened, and counts its resources as taken until then.
func (r *Runner) Stop(s grid.Stop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.m[s.Attempt]; a != nil {
		r.dropAttempt(a)
	}
}

// dropAttempt ends an attempt and frees what it holds; its folder is removed now, or when its process has ended.
func (r *Runner) dropAttempt(a *attempt) {
	if a.dropped {
		return
	}
	a.dropped = true
	delete(r.m, a.id)
	if a.cancelInputs != nil {
		a.cancelInputs()
	}
	if a.process != nil {
		a.process.Cancel()
	}
	if a.pinned {
		r.pins.remove(a.spec.Inputs)
	}
	r.pins.remove(a.resultFiles)
	if !a.started {
		close(a.processKnown)
	}
	if a.dir != "" && (a.ended || !a.started) && !r.closed { // not started: it was too late, and waited for another start
		r.removeFolder(a)
	}
}

// removeFolder queues the folder of an attempt for removal.
func (r *Runner) removeFolder(a *attempt) {
	select {
	case r.remove <- a.dir:
	default: // the queue is full: the caller removes it, or the disk would fill
		r.processes.Remove(a.dir)
	}
}

// run runs one attempt from its start to its end.
func (r *Runner) run(a *attempt, s grid.Start) {
	result, ran := r.execute(a, s)
	if result == nil {
		if r.startTooLate(a) {
			return
		}
		result = new(grid.Result)
	}
	wanted, tell := r.attemptEnded(a, ran)
	if tell {
		r.cfg.Loop.Event(func(ev *grid.Event) {
			ev.Kind, ev.Attempt = grid.EvEnded, a.id
			if wanted {
				ev.Result = result
			}
		})
	}
	if left := result.Blobs(nil); len(left) > 0 { // pinned by collect, and now by the record too
		r.cfg.Loop.Wait()
		r.pins.remove(left)
	}
}

// execute prepares, runs and collects an attempt; ran reports that there was a process. The result is nil if the
// start lease ran out before the process was started, for example on a slow disk.
func (r *Runner) execute(a *attempt, s grid.Start) (_ *grid.Result, ran bool) {
	began, spec := clock.Now(), s.Spec
	result := func(c grid.Cause, exit int32, err error) *grid.Result {
		return &grid.Result{Cause: c, Exit: exit, Error: cutText(err.Error()), Waited: began.Sub(a.accepted)}
	}
	if a.argv == nil {
		argv, err := r.prepare(a, spec)
		if err != nil {
			return result(grid.Failed, grid.ExitSkep, err), false
		}
		a.argv = argv
	}
	if r.isUnwanted(a) {
		return new(grid.Result), false
	}
	p, err := r.begin(a, s.Until, func() (*process.Process, error) {
		return r.processes.Start(r.spec(a.dir, a.argv, spec, a.id))
	})
	switch {
	case err != nil:
		return startFailure(err, result), false
	case p == nil:
		return nil, false
	}
	r.mu.Lock()
	a.process = p
	if a.dropped {
		p.Cancel()
	}
	r.mu.Unlock()
	close(a.processKnown)
	r.cfg.Loop.Event(func(ev *grid.Event) { ev.Kind, ev.Attempt = grid.EvStarted, a.id })
	r.disk.add(a)
	defer r.disk.remove(a)
	end := p.Wait()
	if end.Cause == process.DiskExceeded { // the room is free only when they are removed
		process.Remove(process.Work(a.dir))
	}
	if r.isUnwanted(a) {
		return new(grid.Result), true
	}
	return r.collect(a.dir, spec, &end, began.Sub(a.accepted)), true
}

func (r *Runner) isUnwanted(a *attempt) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed || a.dropped
}

// lookup returns the attempt whose output is to be read.
func (r *Runner) lookup(id grid.AttemptID) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m[id]
}

func (r *Runner) processOf(a *attempt) *process.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return a.process
}

// cutText bounds a text that is sent. It may quote a name that a task chose.
func cutText(s string) string { return grid.Clean(s, grid.MaxText) }

// workSaved updates the pins of an attempt for its record.
func (r *Runner) workSaved(w *grid.WorkRecord, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if gone {
		if a := r.m[w.ID]; a != nil {
			r.dropAttempt(a)
		}
		return
	}
	a := r.get(w.ID, w.Spec)
	if !a.pinned && w.Spec != nil {
		a.spec, a.members, a.pinned = w.Spec, slices.Clone(w.Members), true
		r.pins.add(a.spec.Inputs)
	}
	if a.resultFiles == nil && w.Result != nil { // for its origin to fetch
		a.resultFiles = w.Result.Blobs(nil)
		r.pins.add(a.resultFiles)
	}
}

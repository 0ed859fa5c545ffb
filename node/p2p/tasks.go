package p2p

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"skep/exec/process"
	"skep/grid"
)

// tasks are the attempts that this node has accepted: their pins, folders and processes.
type tasks struct {
	d      *Driver
	runner *process.Runner
	dir    string     // holds a folder for each attempt
	memory grid.Bytes // bound of a task that states none
	remove chan string
	wait   sync.WaitGroup

	mu      sync.Mutex
	m       map[grid.AttemptID]*attempt
	results map[grid.TaskID][]grid.File // pinned, of own tasks that have ended
	jobs    map[grid.JobID]*grid.JobSpec
	folders uint64 // created so far
	closed  bool
}

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

	// Guarded by tasks.mu.
	started      bool // by Start: a goroutine runs it
	process      *process.Process
	cancelInputs context.CancelFunc // ends fetching and placing its inputs; may be nil
	dropped      bool               // dropped: its folder is removed when its goroutine ends
	ended        bool               // its goroutine has ended
}

func newTasks(d *Driver, r *process.Runner, dir string) *tasks {
	t := &tasks{d: d, runner: r, dir: dir, remove: make(chan string, 4096), m: make(map[grid.AttemptID]*attempt),
		results: make(map[grid.TaskID][]grid.File), jobs: make(map[grid.JobID]*grid.JobSpec)}
	t.wait.Go(t.removeFolders)
	return t
}

// newFolder returns a new folder for an attempt. The count distinguishes it from a former folder of the same
// attempt that is still being removed.
func (t *tasks) newFolder(id grid.AttemptID) string {
	t.folders++
	return filepath.Join(t.dir, fmt.Sprintf("%s-%d-%d.%d-%d", id.Task.Job.Short(), id.Task.Index, id.Epoch, id.N, t.folders))
}

// removeFolders removes folders in the background.
func (t *tasks) removeFolders() {
	for dir := range t.remove {
		if err := t.runner.Remove(dir); err != nil {
			t.d.log.Warn("work folder not removed", "error", err)
		}
	}
}

// get returns the attempt, a new one if there is none.
func (t *tasks) get(id grid.AttemptID, spec *grid.JobSpec) *attempt {
	a := t.m[id]
	if a == nil {
		a = &attempt{id: id, spec: spec, accepted: now(), processKnown: make(chan struct{})}
		t.m[id] = a
	}
	return a
}

// start runs an attempt.
func (t *tasks) start(s grid.Start) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.get(s.Attempt, s.Spec)
	if t.closed || a.started {
		return
	}
	if a.started = true; a.dir == "" {
		a.dir = t.newFolder(a.id)
	}
	t.wait.Go(func() { t.run(a, s) })
}

// fetch fetches the files of an attempt: its inputs, until it is dropped, or those of its result.
func (t *tasks) fetch(x grid.Fetch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx := t.d.ctx
	if a := t.m[x.Attempt]; a != nil && !a.started && !x.Deposit {
		ctx, a.cancelInputs = context.WithCancel(ctx)
	}
	t.d.fetches.start(ctx, x)
}

// stop ends an attempt. The node is told when that has happened, and counts its resources as taken until then.
func (t *tasks) stop(s grid.Stop) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.m[s.Attempt]; a != nil {
		t.dropAttempt(a)
	}
}

// dropAttempt ends an attempt and frees what it holds; its folder is removed now, or when its process has ended.
func (t *tasks) dropAttempt(a *attempt) {
	if a.dropped {
		return
	}
	a.dropped = true
	delete(t.m, a.id)
	if a.cancelInputs != nil {
		a.cancelInputs()
	}
	if a.process != nil {
		a.process.Cancel()
	}
	if a.pinned {
		t.d.unpin(a.spec.Inputs)
	}
	t.d.unpin(a.resultFiles)
	if !a.started {
		close(a.processKnown)
	}
	if a.dir != "" && (a.ended || !a.started) && !t.closed { // not started: it was too late, and waited for another start
		t.removeFolder(a)
	}
}

// removeFolder queues the folder of an attempt for removal.
func (t *tasks) removeFolder(a *attempt) {
	select {
	case t.remove <- a.dir:
	default: // the queue is full: the caller removes it, or the disk would fill
		t.runner.Remove(a.dir)
	}
}

// run runs one attempt from its start to its end.
func (t *tasks) run(a *attempt, s grid.Start) {
	result, ran := t.execute(a, s)
	if result == nil {
		if t.startTooLate(a) {
			return
		}
		result = new(grid.Result)
	}
	wanted, tell := t.attemptEnded(a, ran)
	if tell {
		t.d.loop.event(func(ev *grid.Event) {
			ev.Kind, ev.Attempt = grid.EvEnded, a.id
			if wanted {
				ev.Result = result
			}
		})
	}
	if left := result.Blobs(nil); len(left) > 0 { // pinned by collect, and now by the record too
		t.d.loop.waitProcessed()
		t.d.unpin(left)
	}
}

// execute prepares, runs and collects an attempt; ran reports that there was a process. The result is nil if the
// start lease ran out before the process was started, for example on a slow disk.
func (t *tasks) execute(a *attempt, s grid.Start) (r *grid.Result, ran bool) {
	began, spec := now(), s.Spec
	result := func(c grid.Cause, exit int32, err error) *grid.Result {
		return &grid.Result{Cause: c, Exit: exit, Error: cutText(err.Error()), Waited: began.Sub(a.accepted)}
	}
	if a.argv == nil {
		argv, err := t.prepare(a, spec)
		if err != nil {
			return result(grid.Failed, grid.ExitSkep, err), false
		}
		a.argv = argv
	}
	if t.isUnwanted(a) {
		return new(grid.Result), false
	}
	p, err := t.begin(a, s.Until, func() (*process.Process, error) { return t.runner.Start(t.spec(a.dir, a.argv, spec, a.id)) })
	switch {
	case err != nil:
		return startFailure(err, result), false
	case p == nil:
		return nil, false
	}
	t.mu.Lock()
	a.process = p
	if a.dropped {
		p.Cancel()
	}
	t.mu.Unlock()
	close(a.processKnown)
	t.d.loop.event(func(ev *grid.Event) { ev.Kind, ev.Attempt = grid.EvStarted, a.id })
	t.d.diskMonitor.add(a)
	defer t.d.diskMonitor.remove(a)
	end := p.Wait()
	if end.Cause == process.DiskExceeded { // the room is free only when they are removed
		process.Remove(process.Work(a.dir))
	}
	if t.isUnwanted(a) {
		return new(grid.Result), true
	}
	return t.collect(a.dir, spec, &end, began.Sub(a.accepted)), true
}

func (t *tasks) isUnwanted(a *attempt) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed || a.dropped
}

// lookup returns the attempt whose output is to be read.
func (t *tasks) lookup(id grid.AttemptID) *attempt {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m[id]
}

func (t *tasks) processOf(a *attempt) *process.Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return a.process
}

// close stops all tasks without reporting their ends: the node finds them lost when it starts again.
func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.runner.Close()
	close(t.remove)
	t.wait.Wait()
	process.Remove(t.dir)
}

// cutText bounds a text that is sent. It may quote a name that a task chose.
func cutText(s string) string { return grid.Clean(s, grid.MaxText) }

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
	results map[grid.TaskID][]grid.File // pinned for own tasks that have ended
	jobs    map[grid.JobID]*grid.JobSpec
	folders uint64 // made so far
	closed  bool
}

// attempt is one of them, from acceptance until its result is acknowledged.
type attempt struct {
	id       grid.AttemptID
	spec     *grid.JobSpec
	members  []grid.NodeID // of its job's register, as it was offered; nil = it has none
	accepted grid.Time
	pinned   bool          // its inputs are
	left     []grid.File   // what its result names, pinned
	dir      string        // its folder; set when it is first to start
	argv     []string      // what to execute there; nil until the folder is prepared
	ran      chan struct{} // closed when there is a process, or none will come

	// Guarded by tasks.mu.
	started bool // by Start: a goroutine looks after it
	process *process.Process
	unfetch context.CancelFunc // ends the fetching and placing of its inputs; nil: there was none
	gone    bool               // nobody wants it any more: its folder goes when its goroutine ends
	ended   bool               // its goroutine has
}

func newTasks(d *Driver, r *process.Runner, dir string) *tasks {
	t := &tasks{d: d, runner: r, dir: dir, remove: make(chan string, 4096), m: make(map[grid.AttemptID]*attempt),
		results: make(map[grid.TaskID][]grid.File), jobs: make(map[grid.JobID]*grid.JobSpec)}
	t.wait.Go(t.sweep)
	return t
}

// folder returns a new folder for an attempt. The count keeps it apart from one of the same attempt that
// was dropped and is just being removed.
func (t *tasks) folder(id grid.AttemptID) string {
	t.folders++
	return filepath.Join(t.dir, fmt.Sprintf("%s-%d-%d.%d-%d", id.Task.Job.Short(), id.Task.Index, id.Epoch, id.N, t.folders))
}

// sweep removes folders, so that nobody waits for the disk.
func (t *tasks) sweep() {
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
		a = &attempt{id: id, spec: spec, accepted: now(), ran: make(chan struct{})}
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
		a.dir = t.folder(a.id)
	}
	t.wait.Go(func() { t.run(a, s) })
}

// fetch brings the files of an attempt here: its inputs, for as long as it is wanted, or those of its result.
func (t *tasks) fetch(x grid.Fetch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx := t.d.ctx
	if a := t.m[x.Attempt]; a != nil && !a.started && !x.Copy {
		ctx, a.unfetch = context.WithCancel(ctx)
	}
	t.d.fetches.start(ctx, x)
}

// stop ends an attempt. When that has happened the node is told, for it holds the place so long.
func (t *tasks) stop(s grid.Stop) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.m[s.Attempt]; a != nil {
		t.forget(a)
	}
}

// forget ends an attempt and drops what is kept for it; its folder goes now, or when its process has ended.
func (t *tasks) forget(a *attempt) {
	if a.gone {
		return
	}
	a.gone = true
	delete(t.m, a.id)
	if a.unfetch != nil {
		a.unfetch()
	}
	if a.process != nil {
		a.process.Cancel()
	}
	if a.pinned {
		t.d.unpin(a.spec.Inputs)
	}
	t.d.unpin(a.left)
	if !a.started {
		close(a.ran)
	}
	if a.dir != "" && (a.ended || !a.started) && !t.closed { // not started: it was late, and waited for another start
		t.discard(a)
	}
}

// discard has the folder of an attempt removed.
func (t *tasks) discard(a *attempt) {
	select {
	case t.remove <- a.dir:
	default: // a sweeper that far behind: let the caller wait rather than the disk fill
		t.runner.Remove(a.dir)
	}
}

// run looks after one attempt from its start to its end.
func (t *tasks) run(a *attempt, s grid.Start) {
	result, ran := t.execute(a, s)
	if result == nil {
		if t.late(a) {
			return
		}
		result = new(grid.Result)
	}
	wanted, tell := t.ended(a, ran)
	if tell {
		t.d.loop.event(func(ev *grid.Event) {
			ev.Kind, ev.Attempt = grid.EvEnded, a.id
			if wanted {
				ev.Result = result
			}
		})
	}
	if left := result.Blobs(nil); len(left) > 0 { // pinned when they were collected, now by the record too
		t.d.loop.settled()
		t.d.unpin(left)
	}
}

// execute prepares, runs and collects an attempt; ran says that there was a process. Its result is nil if it was not run, because
// it came to that too late: the disk may have taken its time.
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
	if t.unwanted(a) {
		return new(grid.Result), false
	}
	p, err := t.begin(a, s.Until, func() (*process.Process, error) { return t.runner.Start(t.spec(a.dir, a.argv, spec, a.id)) })
	switch {
	case err != nil:
		return refusal(err, result), false
	case p == nil:
		return nil, false
	}
	t.mu.Lock()
	a.process = p
	if a.gone {
		p.Cancel()
	}
	t.mu.Unlock()
	close(a.ran)
	t.d.loop.event(func(ev *grid.Event) { ev.Kind, ev.Attempt = grid.EvStarted, a.id })
	t.d.space.enter(a)
	defer t.d.space.leave(a)
	end := p.Wait()
	if end.Cause == process.DiskExceeded { // whoever waits for the room has none until it is gone
		process.Remove(process.Work(a.dir))
	}
	if t.unwanted(a) {
		return new(grid.Result), true
	}
	return t.collect(a.dir, spec, &end, began.Sub(a.accepted)), true
}

func (t *tasks) unwanted(a *attempt) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed || a.gone
}

// lookup returns the attempt to read the output of.
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

// close stops all tasks without a word about their end: the node finds them lost when it starts again.
func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.runner.Close()
	close(t.remove)
	t.wait.Wait()
	process.Remove(t.dir)
}

// cutText bounds a text that travels. It may quote a name that a task chose.
func cutText(s string) string { return grid.Clean(s, grid.MaxText) }

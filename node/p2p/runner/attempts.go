package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"skep/exec/intact"
	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/ranks"
)

// attempt is an accepted attempt, until its result is acknowledged.
type attempt struct {
	id       grid.AttemptID
	spec     *grid.JobSpec
	left     []grid.File   // inputs of it that tasks of other jobs have left
	members  []grid.NodeID // of its job's register, as offered; nil = it has none
	accepted grid.Time
	folder
	pinned       bool          // its inputs are pinned
	resultFiles  []grid.File   // files of its result, pinned
	expanded     *expanded     // what to execute; nil until the folder is prepared
	shared       *ranks.Shared // of a rank of a gang with a network of its own
	processKnown chan struct{} // closed when there is a process, or none will come
	reads
	grant *units.Grant // while it has a process

	// Guarded by Runner.mu.
	started      bool // by Start: a goroutine runs it
	process      task
	cancelInputs context.CancelFunc // ends fetching and placing its inputs; may be nil
	suspended    bool               // its process, or the one to come, is to be
	dropped      bool               // dropped: its folder is removed when its goroutine ends
	ended        bool               // its goroutine has ended

	checkpoints takes
}

// reads is what its task reads beside its files.
type reads struct {
	stdin stdinStream // if its spec has one
	given given
}

// folder is that of an attempt.
type folder struct {
	dir     string       // set by the first start
	files   intact.Files // that were put there
	resumes bool         // its task was started before the node was, and may run
}

// newFolder returns a new folder for an attempt. The count distinguishes it from a former folder of the same
// attempt that is still being removed.
func (r *Runner) newFolder(id grid.AttemptID) string {
	r.folders++
	task := id.Task
	return filepath.Join(r.attemptsDir(), fmt.Sprintf("%s-%d-%d.%d-%d", task.Job.Short(), task.Index, id.Epoch, id.N,
		r.folders))
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
	a.suspended = false // what was suspended, and did not start, has returned to the queue
	if a.started = true; a.dir == "" {
		a.dir = r.newFolder(a.id)
	}
	r.wait.Go(func() { r.run(a, s) })
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
		if !a.ended {
			r.stopped.keep(a.id, a.dir, a.members)
		}
		a.process.Cancel()
	}
	if a.pinned {
		r.pins.remove(slices.Concat(a.spec.Inputs, a.left))
	}
	r.pins.remove(a.resultFiles)
	r.dropCheckpoints(a)
	if !a.started {
		a.setKnown()
		r.ranks.Ended(a.id)
		r.abandon(a)
	}
	r.ranks.Dropped(a.id)
	if a.dir != "" && (a.ended || !a.started) && !r.closed { // not started: it was too late, and waited for another start
		r.removeFolder(a)
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

func (r *Runner) processOf(a *attempt) task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return a.process
}

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
	a.resumes = w.State == grid.WorkRunning
	if !a.pinned && w.Spec != nil {
		a.spec, a.left, a.members, a.pinned = w.Spec, w.Inputs, slices.Clone(w.Members), true
		r.pins.add(slices.Concat(a.spec.Inputs, a.left))
	}
	if a.resultFiles == nil && w.Result != nil { // for its origin to fetch
		a.resultFiles = w.Result.Blobs(nil)
		r.pins.add(a.resultFiles)
	}
}

// removal is what is given back once attempts have ended: their folders, and what ranks of gangs share.
type removal struct {
	hangs  func(dir string) bool // reports whether a process of an attempt hangs in the kernel
	remove chan *attempt         // whose folders are to be removed
	ranks  *ranks.Table
}

// removeFolders removes folders in the background.
func (r *Runner) removeFolders() {
	for a := range r.remove {
		if err := r.removeNow(a); err != nil {
			r.cfg.Log.Warn("work folder not removed", "error", err)
		}
	}
}

// removeNow removes the folder of an attempt.
func (r *Runner) removeNow(a *attempt) error {
	hangs := r.hangs(a.dir)
	err := r.processes.Remove(a.dir)
	r.ranks.Removed(a.id, hangs || err != nil)
	return err
}

// removeFolder queues the folder of an attempt for removal.
func (r *Runner) removeFolder(a *attempt) {
	select {
	case r.remove <- a:
	default: // the queue is full: the caller removes it, or the disk would fill
		r.removeNow(a)
	}
}

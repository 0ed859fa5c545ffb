package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/p2p/clock"
	"skep/node/p2p/engines"
)

// runs are what runs tasks.
type runs struct {
	processes *process.Runner
	away      engines.Engine // nil = tasks are processes
}

// attemptsDir is the folder that holds a folder for each attempt.
func (r *Runner) attemptsDir() string {
	if r.away != nil {
		return r.away.Folder()
	}
	return r.dir
}

// Restored is called once all records of an earlier run have been given to RecordSaved. What that run has left
// elsewhere is found, and ended if no attempt is to go on with it. With an error the node must not start: what that run
// has left is not known.
func (r *Runner) Restored() error {
	if r.away == nil {
		return nil
	}
	r.mu.Lock()
	r.folders = uint64(time.Now().UnixNano()) // folders of an earlier run are there
	wanted := make(map[string]bool)
	for id, a := range r.m {
		if a.resumes {
			wanted[id.String()] = true
		}
	}
	r.mu.Unlock()
	return r.away.Former(func(key string) bool { return wanted[key] })
}

// adopt takes over the task of an attempt that runs from before the node was started; nil: nothing of it was ever
// handed over, so the attempt has not run.
func (r *Runner) adopt(a *attempt, _ grid.Start) (task, error) {
	if r.away == nil {
		return nil, errors.New("nothing is left of a task that ran before the node was started")
	}
	t, err := r.away.Adopt(a.id.String(), r.saidOf(a))
	if t == nil || err != nil {
		return nil, err
	}
	r.mu.Lock()
	a.dir, a.expanded = t.Dir(), &expanded{outputs: t.Keep()}
	r.mu.Unlock()
	if err := a.files.Made(process.Work(a.dir)); err != nil {
		r.cfg.Log.Warn("the work folder of a task that goes on is not there", "attempt", a.id, "error", err)
	}
	return t, nil
}

// abandon ends what runs of an attempt that was not taken over.
func (r *Runner) abandon(a *attempt) {
	if r.away != nil && a.resumes && !r.closed {
		r.wait.Go(func() { r.away.Abandon(a.id.String()) })
	}
}

// makeFolderAway makes the folder of an attempt that the engine can run.
func (r *Runner) makeFolderAway(dir string, spec *grid.JobSpec) error {
	if err := engines.Refusal(r.away, spec); err != nil {
		return err
	}
	return r.away.Prepare(dir)
}

// hand has the engine run an attempt.
func (r *Runner) hand(a *attempt, s *grid.Start) (task, error) {
	run, spec := a.expanded, s.Spec
	temp, _ := r.processes.Temp(a.dir)
	inputs := slices.Clone(run.inputs)
	if spec.Array != nil { // of its lines the task has its own only
		inputs = slices.DeleteFunc(inputs, func(f grid.File) bool { return f.Path == spec.Array.LinesPath() })
	}
	t, err := r.away.Hand(&engines.Attempt{Key: a.id.String(), Dir: a.dir, Temp: temp, Argv: run.argv, Env: run.env,
		Outputs: run.outputs, Inputs: inputs, Spec: spec, MaxOutput: int64(r.cfg.MaxOutput),
		MayStart: func() bool { return mayStart(s.Until) }}, r.saidOf(a))
	switch {
	case errors.Is(err, external.ErrBusy), errors.Is(err, external.ErrClosed):
		return nil, fmt.Errorf("%w: %w", sandbox.ErrNoRoom, err) // it is tried again while it may start
	case err != nil:
		return nil, err
	}
	return t, nil
}

// saidOf tells the node where an attempt stands elsewhere, as if the task said that of its progress.
func (r *Runner) saidOf(a *attempt) func(external.Saying) {
	return func(s external.Saying) {
		said := &grid.Progress{Done: s.Done, Total: s.Total, Text: grid.Clean(s.Text, grid.MaxProgressText)}
		if said.Check() != nil {
			return
		}
		r.cfg.Loop.Event(func(ev *grid.Event) { ev.Kind, ev.Attempt, ev.Progress = grid.EvProgress, a.id, said })
	}
}

// never reports whether a task has ended that has never run, and may still be started.
func never(p task) bool {
	t, ok := p.(engines.Task)
	return ok && t.Never()
}

// waited is how long an attempt has waited here: until it was started or, of one that runs elsewhere, all the time but
// for that in which it ran.
func (r *Runner) waited(a *attempt, began grid.Time, end *process.Result) time.Duration {
	if r.away == nil {
		return began.Sub(a.accepted)
	}
	return max(clock.Now().Sub(a.accepted)-end.Wall, 0)
}

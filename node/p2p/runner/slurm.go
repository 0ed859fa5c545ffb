package runner

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/exec/slurm"
	"skep/exec/units"
	"skep/grid"
	"skep/node/p2p/clock"
)

// SlurmOptions are what tasks run with as batch jobs, and the partition as it was found at the start.
type SlurmOptions struct {
	slurm.Options
	Cluster *slurm.Cluster
}

// engines are what runs tasks.
type engines struct {
	processes *process.Runner
	slurm     *slurm.Engine // nil = tasks are processes
}

// checkSlurm reports settings that do not go with tasks in Slurm.
func (b *Boxes) checkSlurm() error {
	if b.Slurm == nil {
		return nil
	}
	var errs []error
	if b.Isolation != nil && *b.Isolation != grid.IsolationNone {
		errs = append(errs, fmt.Errorf("isolation %v with engine slurm: compute nodes have no boxes: want none, or no "+
			"setting", *b.Isolation))
	}
	if len(b.Expose)+len(b.Hide) > 0 {
		errs = append(errs, errors.New("expose or hide with engine slurm: compute nodes have no boxes: want neither"))
	}
	return errors.Join(append(errs, b.Slurm.Check())...)
}

// openSlurm gets ready to run tasks in Slurm; nil: that is not asked for.
func openSlurm(c *Config) (*slurm.Engine, error) {
	s := c.Boxes.Slurm
	if s == nil {
		return nil, nil
	}
	o := s.Options
	o.Data, o.Node, o.Log = c.DataDir, c.Self.String()[:16], c.Log
	return slurm.Open(o, s.Cluster)
}

// attemptsDir is the folder that holds a folder for each attempt.
func (r *Runner) attemptsDir() string {
	if r.slurm != nil {
		return r.slurm.Folder()
	}
	return r.dir
}

// Restored is called once all records of an earlier run have been given to RecordSaved. What that run has left in Slurm
// is found, and ended if no attempt is to go on with it. With an error the node must not start: what that run has left
// is not known.
func (r *Runner) Restored() error {
	if r.slurm == nil {
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
	return r.slurm.Former(func(key string) bool { return wanted[key] })
}

// adopt takes over the task of an attempt that runs from before the node was started; nil: nothing of it was ever
// submitted, so the attempt has not run.
func (r *Runner) adopt(a *attempt, _ grid.Start) (task, error) {
	if r.slurm == nil {
		return nil, errors.New("nothing is left of a task that ran before the node was started")
	}
	t, err := r.slurm.Adopt(a.id.String(), r.saidBySlurm(a))
	if t == nil || err != nil {
		return nil, err
	}
	r.mu.Lock()
	a.dir, a.expanded = t.Dir(), &expanded{outputs: t.Keep()}
	r.mu.Unlock()
	if err := a.files.Made(process.Work(a.dir)); err != nil {
		r.cfg.Log.Warn("the work folder of a task in Slurm is not there", "attempt", a.id, "error", err)
	}
	return t, nil
}

// abandon ends what runs of an attempt that was not taken over.
func (r *Runner) abandon(a *attempt) {
	if r.slurm != nil && a.resumes && !r.closed {
		r.wait.Go(func() { r.slurm.Abandon(a.id.String()) })
	}
}

// makeSlurmFolder makes the folder of an attempt that Slurm can run.
func (r *Runner) makeSlurmFolder(dir string, spec *grid.JobSpec) error {
	if why := notInSlurm(spec); why != "" {
		return &process.ExecError{Cause: process.CannotExecute, Path: "Slurm",
			Err: fmt.Errorf("this node runs tasks as batch jobs of Slurm, without %s", why)}
	}
	return r.slurm.Prepare(dir)
}

// notInSlurm names what a job wants that tasks in Slurm do not have; "" = nothing.
func notInSlurm(spec *grid.JobSpec) string {
	switch {
	case spec.IsGang():
		return "gangs"
	case spec.Terminal.On:
		return "terminals"
	case spec.Stdin == grid.StdinStream, spec.StdinFile() != nil:
		return "a standard input"
	case spec.Needs.Pin:
		return "processors of their own"
	case spec.Needs.Counts != "":
		return "counted resources"
	case spec.Folders != nil:
		return "folders of the machine"
	case spec.Isolation() > grid.IsolationNone:
		return "isolation"
	}
	return ""
}

// taskGrace is the time between SIGTERM and SIGKILL of a task in Slurm: that of processes.
const taskGrace = 5 * time.Second

// submit hands an attempt to Slurm.
func (r *Runner) submit(a *attempt, spec *grid.JobSpec) (task, error) {
	work, temp := process.Work(a.dir), ""
	temp, _ = r.processes.Temp(a.dir)
	run := a.expanded
	order := slurm.Order{Key: a.id.String(), Dir: a.dir, Argv: run.argv,
		Env: slices.Concat(process.Inherited(), units.ThreadEnv(spec.Needs.CPU), []string{"HOME=" + work, "TMPDIR=" + temp},
			run.env, []string{"SKEP_WORK=" + work, "PWD=" + work}),
		CPUs: cpusOf(spec), Memory: int64(spec.Needs.Memory), Timeout: spec.Timeout, Grace: taskGrace,
		MaxOutput: int64(r.cfg.MaxOutput), Keep: run.outputs}
	t, err := r.slurm.Start(order, r.saidBySlurm(a))
	switch {
	case errors.Is(err, slurm.ErrBusy), errors.Is(err, slurm.ErrClosed):
		return nil, fmt.Errorf("%w: %w", sandbox.ErrNoRoom, err) // it is tried again while it may start
	case err != nil:
		return nil, err
	}
	return t, nil
}

// cpusOf is the number of whole processors that a job of Slurm needs for a task.
func cpusOf(spec *grid.JobSpec) int {
	return int(max((spec.Needs.CPU+grid.CPU-1)/grid.CPU, 1))
}

// saidBySlurm tells the node where an attempt stands in Slurm, as if the task said that of its progress.
func (r *Runner) saidBySlurm(a *attempt) func(string) {
	return func(text string) {
		said := &grid.Progress{Text: grid.Clean(text, grid.MaxProgressText)}
		r.cfg.Loop.Event(func(ev *grid.Event) { ev.Kind, ev.Attempt, ev.Progress = grid.EvProgress, a.id, said })
	}
}

// never reports whether a task has ended that has never run, and may still be started.
func never(p task) bool {
	t, ok := p.(*slurm.Task)
	return ok && t.Never()
}

// waited is how long an attempt has waited here: until it was started or, in Slurm, all the time but for that in which
// it ran.
func (r *Runner) waited(a *attempt, began grid.Time, end *process.Result) time.Duration {
	if r.slurm == nil {
		return began.Sub(a.accepted)
	}
	return max(clock.Now().Sub(a.accepted)-end.Wall, 0)
}

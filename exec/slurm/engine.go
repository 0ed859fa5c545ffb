package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"skep/exec/external"
	"skep/exec/process"
)

// Engine runs tasks as batch jobs. All its methods may be called at the same time.
type Engine struct {
	external.Table[*Task]
	watcher external.Watcher
	o       Options
	cluster *Cluster
	dir     string // this node's
	prefix  string // of the names of its jobs
	share   share
	script  string
	ctx     context.Context
	stop    context.CancelFunc
	sending chan struct{} // bounds the orders that are handed over at once
	over    sync.WaitGroup
	busy    atomic.Bool // the controller did not take the last order
}

// ErrBusy reports that the controller does not answer, or not in time: the order has not run, and may be tried again.
var ErrBusy = fmt.Errorf("slurm: the controller: %w", external.ErrBusy)

// Open gets ready to run tasks. Former must be called before Start, and Close at the end.
func Open(o Options, c *Cluster) (*Engine, error) {
	if err := o.defaults(); err != nil {
		return nil, err
	}
	e := &Engine{o: o, cluster: c, dir: filepath.Join(o.Dir, "slurm-"+o.Node), prefix: "skep-" + o.Node + "-",
		sending: make(chan struct{}, 4)}
	e.watcher = external.Watcher{Poll: o.Poll, MaxPoll: maxPoll, MaxRetry: maxRetry, Look: e.look, Silent: e.silent}
	e.watcher.Init()
	e.Init(e.watcher.Soon, o.Log)
	e.script = filepath.Join(e.dir, "batch.sh")
	e.share = newShare(e.dir, o.Data)
	if err := e.share.open(); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	if err := external.WriteFile(e.script, []byte("#!/bin/sh\nexec \"$@\"\n"), 0o700); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	if len(e.o.Step) == 0 {
		program, err := e.copyProgram()
		if err != nil {
			return nil, fmt.Errorf("slurm: copy this program to where compute nodes see it: %w", err)
		}
		e.o.Step = []string{program, StepCommand}
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e, nil
}

// Folder is where the folders of attempts are.
func (e *Engine) Folder() string { return e.dir }

// Cluster is what the partition had when the node started.
func (e *Engine) Cluster() *Cluster { return e.cluster }

// Prepare makes the folder of an attempt.
func (e *Engine) Prepare(dir string) error {
	if err := external.MakeFolders(e.dir, dir); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	return nil
}

// Stdin is where the standard input of a task is put that has one.
func (e *Engine) Stdin(dir string) string { return filepath.Join(dir, stdinFile) }

// Close leaves all jobs to themselves: the next run finds them. What waits for their ends is told that they are not
// known.
func (e *Engine) Close() {
	e.stop()
	e.over.Wait()
	e.Table.Close()
}

// Start has an order run by a batch job, and returns once there is one. said is called with what Slurm says of it, one
// call at a time. An error of type *process.ExecError means that this cluster does not run it; with ErrBusy it may be
// tried again. With any error it has not run and will not.
func (e *Engine) Start(o Order, said func(external.Saying)) (*Task, error) {
	if err := e.fits(&o); err != nil {
		return nil, err
	}
	if err := e.answers(); err != nil {
		return nil, err
	}
	select {
	case e.sending <- struct{}{}:
		defer func() { <-e.sending }()
	case <-e.ctx.Done():
		return nil, external.ErrClosed
	}
	if o.MayStart != nil && !o.MayStart() {
		return nil, fmt.Errorf("%w: the start lease has run out", ErrBusy)
	}
	for o.Submission = 1; ; o.Submission++ {
		if _, err := os.Lstat(claimFile(o.Dir, o.Submission)); errors.Is(err, os.ErrNotExist) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("slurm: %w", err)
		}
	}
	o.Step = e.o.Step[0]
	if err := external.WriteRecord(filepath.Join(o.Dir, orderFile), &o); err != nil {
		return nil, fmt.Errorf("slurm: write order: %w", err)
	}
	t := e.newTask(o)
	t.Listen(said)
	if err := e.Enter(t); err != nil {
		return nil, err
	}
	err := e.submit(&t.order, t.Name())
	if err == nil {
		t.Handed()
		return t, nil
	}
	if e.ctx.Err() != nil { // the next run finds out
		return nil, external.ErrClosed
	}
	e.o.Log.Debug("sbatch", "job", t.Name(), "error", err)
	if l, lerr := list(e.ctx, t.Name()); lerr == nil && len(l[t.Name()]) > 0 { // only its answer was lost
		t.Handed()
		return t, nil
	}
	never, ferr := fence(o.Dir, o.Key, o.Submission)
	switch {
	case ferr != nil || !never: // it may run
		t.Handed()
		return t, nil
	case isTransient(err):
		e.busy.Store(true)
		e.Forget(t)
		return nil, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	e.Forget(t)
	return nil, &process.ExecError{Cause: process.CannotExecute, Path: "Slurm", Err: err}
}

// fits checks the bounds of the partition.
func (e *Engine) fits(o *Order) error {
	refuse := func(format string, args ...any) error {
		return &process.ExecError{Cause: process.CannotExecute, Path: "Slurm", Err: fmt.Errorf(format, args...)}
	}
	if o.CPUs = max(o.CPUs, 1); !e.cluster.fits(o.CPUs, o.Memory) {
		return refuse("no host of partition %s has %d processors and %d MiB of memory", e.cluster.Partition, o.CPUs,
			o.Memory>>20)
	}
	if most := e.cluster.MaxTime; most > 0 && o.Timeout > most {
		return refuse("a job of partition %s may run for %v, and the task's time limit is %v", e.cluster.Partition, most,
			o.Timeout)
	}
	for _, w := range o.Argv {
		if strings.IndexByte(w, 0) >= 0 {
			return fmt.Errorf("slurm: argument %q has a zero byte", w)
		}
	}
	if len(o.Argv) == 0 || o.Argv[0] == "" {
		return errors.New("slurm: the command is empty")
	}
	return nil
}

// answers asks a controller that did not take the last order whether it answers: each order that it may have taken all
// the same costs a claim.
func (e *Engine) answers() error {
	if !e.busy.Load() {
		return nil
	}
	if _, err := list(e.ctx, e.prefix); err != nil {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	e.busy.Store(false)
	return nil
}

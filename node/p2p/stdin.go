package p2p

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"skep/grid"
	"skep/node"
	"skep/node/p2p/runner"
)

// Pauses before a node that does not run an attempt yet, or has no seat for its stream, is asked again: the first, and
// the longest. Each is twice the one before.
const (
	firstStdinPause   = 25 * time.Millisecond
	longestStdinPause = time.Second
)

// lastStatus is how long what a worker says of the input of a task is awaited after the task has ended: the two come on
// streams of their own, and it says so then, also where the task has not read it.
const lastStatus = time.Second

// Stdin sends the standard input of a task of a job that was submitted here, from in, to the node that runs it.
// Nothing is read before the task runs. all reports that the whole input was written to the task; otherwise the task
// reads no more of it, or has ended. With an error the task is stopped. Stdin may return while it still reads from in:
// the caller then closes that.
func (d *Driver) Stdin(ctx context.Context, t grid.TaskID, in io.Reader) (all bool, err error) {
	if t.Job.Origin != d.self {
		return false, fmt.Errorf("job %s: was not submitted at this node: want its standard input sent through the one "+
			"where it was", t.Job.Short())
	}
	changed, stop := d.Watch(t.Job)
	defer stop()
	source, pause := &onceReader{from: in}, firstStdinPause
	for {
		v, err := d.taskView(ctx, t)
		if err != nil || v.State == grid.Ended {
			return false, err
		}
		if source.begun.Load() {
			return false, errors.New("an attempt of the task that is lost has read of it")
		}
		wait := time.Hour
		if v.State != grid.Pending && !v.Worker.IsZero() { // of an offer the acceptance may be lost, or late
			all, err := d.sendStdin(ctx, &v, source, changed)
			if !errors.Is(err, runner.ErrStdinUnknown) {
				return all, err
			}
			wait, pause = pause, min(2*pause, longestStdinPause)
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// onceReader notes that somebody has begun to read: nobody else can get the whole.
type onceReader struct {
	from  io.Reader
	begun atomic.Bool
}

// Read reads.
func (o *onceReader) Read(b []byte) (int, error) {
	o.begun.Store(true)
	return o.from.Read(b)
}

// sendStdin sends a placed task its input until it has it all, or does not run there any more.
func (d *Driver) sendStdin(ctx context.Context, v *node.TaskView, in io.Reader, changed <-chan struct{}) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		all bool
		err error
	}
	sent := make(chan end, 1)
	go func() {
		all, err := d.runner.SendStdin(ctx, v.Worker, v.ID, in)
		sent <- end{all, err}
	}()
	for {
		select {
		case e := <-sent:
			return e.all, e.err
		case <-changed:
			now, err := d.taskView(ctx, v.ID.Task)
			if err != nil || now.State == grid.Ended || now.ID.Attempt != v.ID.Attempt {
				ended, wait := err == nil && now.ID.Attempt == v.ID.Attempt, time.Duration(0)
				if ended && v.Worker != d.self {
					wait = lastStatus
				}
				defer time.AfterFunc(wait, cancel).Stop()
				if e := <-sent; ended && e.all {
					return true, nil
				}
				return false, cmp.Or(err, runner.ErrStdinUnknown)
			}
		}
	}
}

// taskView returns a task of an own job.
func (d *Driver) taskView(ctx context.Context, t grid.TaskID) (v node.TaskView, err error) {
	found := false
	err = d.inbox.Read(ctx, func(grid.Time) {
		if n, ok := d.node.(viewer); ok {
			v, found = n.Task(t)
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("task %s: is not known at this node", t)
	}
	return v, err
}

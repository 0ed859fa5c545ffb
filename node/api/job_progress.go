package api

import (
	"context"
	"sync"
	"time"

	"skep/grid"
	v1 "skep/node/api/v1"
)

// progressInterval is how often a followed job is looked at for its progress. Tests shorten it.
var progressInterval = time.Second

// sendProgress sends, until the returned function is called, how far the job is whenever that has changed. It asks this
// node alone.
func (f *follower) sendProgress(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		var last [4]int
		var said v1.Progress
		for first := true; ; first = false {
			e, counts, now := f.progress(ctx)
			if e != nil && (first || counts != last || now != said) {
				last, said = counts, now
				if f.fw.Event(0, e) != nil {
					return
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// progress returns an event that says how far the job is, with what may change of it: how many tasks are how far, and
// what its one task says of itself. nil: that cannot be known now.
func (f *follower) progress(ctx context.Context) (e *v1.Event, counts [4]int, said v1.Progress) {
	job, err := f.s.job(ctx, f.id, false)
	if err != nil {
		return nil, counts, said
	}
	e = &v1.Event{Event: v1.EventProgress, Job: job}
	counts = [...]int{job.Pending, job.Running, job.Ended, job.Failed}
	if !f.single {
		return e, counts, said
	}
	t, err := f.s.task(ctx, grid.TaskID{Job: f.id})
	if err != nil {
		return nil, counts, said
	}
	task := f.s.taskWithName(ctx, &t)
	if e.Task = &task; task.Progress != nil {
		said = *task.Progress
	}
	return e, counts, said
}

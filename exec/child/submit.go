package child

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"skep/exec/external"
	"skep/exec/process"
	"skep/grid"
	"skep/node/api/client"
)

// Start has a job of the child do the work, and returns once there is one. said is called with what the child says of
// it, one call at a time. An error of type *process.ExecError means that the child does not run it; with
// external.ErrBusy it may be tried again. With any error it has not run and will not.
func (e *Engine) Start(w *Work, said func(external.Saying)) (*Task, error) {
	if err := e.mayRun(w.Job); err != nil {
		return nil, err
	}
	if e.away.Load() {
		return nil, busy(errors.New("it did not the last time"))
	}
	spec, err := e.spec(w)
	if err != nil {
		return nil, err
	}
	select {
	case e.sending <- struct{}{}:
		defer func() { <-e.sending }()
	case <-e.ctx.Done():
		return nil, external.ErrClosed
	}
	if err := e.upload(w); err != nil {
		return nil, err
	}
	if w.MayStart != nil && !w.MayStart() {
		return nil, busy(errors.New("the start lease has run out"))
	}
	t := e.newTask(Order{Key: w.Key, Dir: w.Dir, ID: client.Draw() + "-" + e.Grid().Node, Spec: spec,
		MaxOutput: w.MaxOutput, Keep: w.Outputs, Homeless: homeless(w.Dir)})
	if err := t.save(); err != nil {
		return nil, err
	}
	t.Listen(said)
	if err := e.Enter(t); err != nil {
		return nil, err
	}
	switch err := t.submit(); {
	case e.ctx.Err() != nil: // the next run finds out
		return nil, external.ErrClosed
	case err == nil, unanswered(err) && !notSent(err):
		t.Handed() // or it may have been
		return t, nil
	case notSent(err), status(err) == http.StatusUnauthorized:
		e.Forget(t)
		return nil, errors.Join(busy(err), t.unsave())
	default:
		e.Forget(t)
		if shut := e.isShut(); shut != nil {
			return nil, errors.Join(busy(shut), t.unsave())
		}
		return nil, errors.Join(refusal("%w", err), t.unsave())
	}
}

// isShut returns an error if the node that is reached takes no jobs now, or does not answer.
func (e *Engine) isShut() error {
	ctx, cancel := context.WithTimeout(e.ctx, askTime)
	defer cancel()
	_, err := Look(ctx, e.o.API, e.o.Labels)
	return err
}

// homeless is how often the task in a folder was handed over to no avail.
func homeless(dir string) int {
	var before Order
	if external.ReadRecord(filepath.Join(dir, orderFile), &before) != nil {
		return 0
	}
	return before.Homeless
}

// transferTime bounds a transfer of a size, in bytes: a second for each 100 kB of up to 1 TiB, beside what a request
// may take.
func transferTime(size int64) time.Duration {
	return askTime + time.Duration(min(max(size, 0), 1<<40)/100_000)*time.Second
}

func busy(err error) error { return fmt.Errorf("child grid: %w: %w", external.ErrBusy, err) }

// mayRun reports why a job does not run in the child.
func (e *Engine) mayRun(job *grid.JobSpec) error {
	g := e.Grid()
	for _, name := range job.Outer {
		if name == g.Network {
			return refusal("the job came from grid %s, which this node would hand it to: a loop", name)
		}
	}
	if len(job.Outer) >= grid.MaxOuter {
		return refusal("the job came through %d grids: want at most %d", len(job.Outer), grid.MaxOuter)
	}
	return g.fits(&job.Needs)
}

// upload brings the inputs of a task to the child.
func (e *Engine) upload(w *Work) error {
	for i := range w.Inputs {
		in := &w.Inputs[i]
		blob := in.Blob.String()
		ctx, cancel := context.WithTimeout(e.ctx, askTime)
		_, has, err := e.o.API.HasBlob(ctx, blob)
		cancel()
		if err == nil && !has {
			err = e.put(filepath.Join(process.Work(w.Dir), filepath.FromSlash(in.Path)), blob, int64(in.Size))
		}
		switch {
		case err == nil:
		case unanswered(err), status(err) == http.StatusUnauthorized:
			return busy(err)
		default:
			return refusal("input %q: %w", in.Path, err)
		}
	}
	return nil
}

func (e *Engine) put(path, blob string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(e.ctx, transferTime(size))
	defer cancel()
	return e.o.API.PutBlob(ctx, blob, size, f)
}

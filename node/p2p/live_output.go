package p2p

import (
	"context"
	"errors"
	"io"

	"skep/grid"
	"skep/node/p2p/runner"
)

// errMoved reports that a task does not run any more where it did.
var errMoved = errors.New("the task has ended or moved")

// errWorkerUnknown is returned for the output of a running task whose job was taken over: its worker has not
// reported it yet.
var errWorkerUnknown = errors.New("it is not known yet where it runs, for its job was taken over")

// live copies the output of the running task until its stream ends, or until the task has ended or moved: errMoved.
func (f *outputFollower) live(ctx context.Context, worker grid.NodeID) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	copied := make(chan error, 1)
	go func() { copied <- f.copy(ctx, worker) }()
	for {
		select {
		case err := <-copied:
			if err != nil {
				f.d.log.Debug("live output", "task", f.task, "error", err)
			}
			return err
		case <-f.changed:
			v, err := f.taskView(ctx)
			if err != nil || v.State != grid.Placed || v.ID.Attempt != f.attempt {
				cancel()
				<-copied
				return errMoved
			}
		}
	}
}

func (f *outputFollower) copy(ctx context.Context, worker grid.NodeID) error {
	if worker.IsZero() {
		return errWorkerUnknown
	}
	id := grid.AttemptID{Task: f.task, Attempt: f.attempt}
	open := func(offset int64) (io.ReadCloser, error) {
		return f.d.runner.OpenOutput(ctx, worker, id, f.stream, offset, f.follow)
	}
	goesOn := f.continues(f.attempt, func(n int64) (io.Reader, error) {
		r, err := open(f.start)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { r.Close() })
		return io.LimitReader(r, n), nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !goesOn {
		f.restart()
	}
	f.writtenBy = f.attempt
	r, err := open(f.offset)
	if runner.NoOutput(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := f.w.Write(buf[:n]); err != nil {
				return err
			}
			f.sum.Write(buf[:n])
			f.offset += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

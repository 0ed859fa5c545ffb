package runner

import (
	"context"
	"errors"
	"time"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
	"skep/node/p2p/clock"
)

// inputsContext returns a context that ends when an attempt is dropped.
func (r *Runner) inputsContext(a *attempt) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	a.cancelInputs = cancel // its inputs have been fetched
	if a.dropped {
		cancel()
	}
	return ctx, cancel
}

// startTask starts the task of an attempt; nil: too late, or nobody wants it any more.
func (r *Runner) startTask(a *attempt, s grid.Start) (task, error) {
	if ok, err := r.fetchSecrets(a, &s); !ok {
		return nil, err
	}
	stdin, err := r.openStdin(a, s.Spec)
	if err != nil {
		return nil, err
	}
	if stdin != nil {
		defer stdin.Close()
	}
	p, err := r.begin(a, s.Until, func() (task, error) {
		if err := a.files.Missing(); err != nil {
			return nil, err
		}
		if r.away != nil {
			return r.hand(a, &s)
		}
		grant, ok := r.grant(s.Spec)
		if !ok {
			return nil, sandbox.ErrNoRoom
		}
		run := r.spec(a.dir, a.expanded, s.Spec, grant)
		run.Weight = s.Weight
		if run.Stdin = stdin; a.shared != nil {
			run.Pod, run.Hosts = a.shared.Pod, a.shared.Hosts
		}
		a.giveSecrets(&run)
		run.Progress = func(said grid.Progress) {
			r.cfg.Loop.Event(func(ev *grid.Event) { ev.Kind, ev.Attempt, ev.Progress = grid.EvProgress, a.id, &said })
		}
		run.Closed = func(steps []uint64) { r.checkpointsClosed(a, steps) }
		run.NotSuspended = func(err error) {
			r.cfg.Log.Warn("a task goes on that is to be suspended", "attempt", a.id, "error", err)
		}
		p, err := r.processes.Start(run)
		if a.grant = grant; err != nil {
			r.release(a)
			return nil, err
		}
		return p, nil
	})
	if p == nil {
		a.stdin.setPipe(nil)
	} else {
		a.given.secrets = nil // they are the task's now
	}
	return p, err
}

// Suspend stops the process of an attempt in place, or continues it.
func (r *Runner) Suspend(s grid.Suspend) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.m[s.Attempt]
	if a == nil {
		return
	}
	a.suspended = !s.Resume
	switch {
	case a.process == nil:
	case a.suspended:
		a.process.Suspend()
	default:
		a.process.Resume()
	}
}

// roomEvery is the time between two tries to start a task for which the node has no processes left.
var roomEvery = time.Second

// begin starts an attempt by calling start, before the deadline until (0 = none); nil: too late, or nobody wants the
// attempt any more. While other tasks use all processes that the node may have it waits: that is no failure of this
// one.
func (r *Runner) begin(a *attempt, until grid.Time, start func() (task, error)) (task, error) {
	ctx, cancel := r.inputsContext(a)
	defer cancel()
	for mayStart(until) {
		p, err := start()
		if !errors.Is(err, sandbox.ErrNoRoom) {
			return p, err
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(roomEvery):
		}
	}
	return nil, nil
}

// mayStart reports whether a start lease until a time is valid; 0 = for good.
func mayStart(until grid.Time) bool { return until == 0 || clock.Now() < until }

// startTooLate makes an attempt whose start lease had run out before its process started ready for another start,
// and tells the node so; false if the attempt was dropped meanwhile. The folder stays as it was prepared: if
// copying the inputs takes longer than a start lease lasts, the task would otherwise never run.
func (r *Runner) startTooLate(a *attempt) bool {
	r.mu.Lock()
	wanted := !a.dropped && !r.closed
	if wanted {
		a.started, a.process = false, nil
	}
	r.mu.Unlock()
	if wanted {
		away := a.given.away
		r.cfg.Loop.Event(func(ev *grid.Event) { ev.Kind, ev.Attempt, ev.Err = grid.EvLate, a.id, away })
	}
	return wanted
}

// attemptEnded records that nothing of an attempt runs any more, and reports whether the node wants its result, and
// whether it is to be told of the end at all.
func (r *Runner) attemptEnded(a *attempt, ran bool) (wanted, tell bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.ended = true
	r.ranks.Ended(a.id)
	if !ran {
		a.setKnown()
	}
	if a.dropped && !r.closed {
		r.removeFolder(a)
	}
	return !a.dropped, !r.closed
}

func causeOf(c process.Cause) grid.Cause {
	switch c {
	case process.Exited:
		return grid.Exited
	case process.Signaled, process.DiskExceeded:
		return grid.Signaled
	case process.TimedOut:
		return grid.TimedOut
	case process.MemoryExceeded:
		return grid.MemoryExceeded
	case process.Cancelled:
		return grid.Cancelled
	case process.CannotExecute:
		return grid.CannotExecute
	case process.NotFound:
		return grid.NotFound
	case process.Broken:
		return grid.Lost
	}
	return grid.Failed
}

// cutText bounds a text that is sent. It may quote a name that a task chose.
func cutText(s string) string { return grid.Clean(s, grid.MaxText) }

package p2p

import (
	"context"
	"errors"
	"time"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
)

// inputsContext returns a context that ends when an attempt is dropped.
func (t *tasks) inputsContext(a *attempt) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.d.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	a.cancelInputs = cancel // its inputs have been fetched
	if a.dropped {
		cancel()
	}
	return ctx, cancel
}

// roomEvery is the time between two tries to start a task for which the node has no processes left.
var roomEvery = time.Second

// begin starts an attempt by calling start, before the deadline until (0 = none); nil: too late, or nobody wants the
// attempt any more. While other tasks use all processes that the node may have it waits: that is no failure of this one.
func (t *tasks) begin(a *attempt, until grid.Time, start func() (*process.Process, error)) (*process.Process, error) {
	ctx, cancel := t.inputsContext(a)
	defer cancel()
	for until == 0 || now() < until {
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

// startTooLate makes an attempt whose start lease had run out before its process started ready for another start,
// and tells the node so; false if the attempt was dropped meanwhile. The folder stays as it was prepared: if
// copying the inputs takes longer than a start lease lasts, the task would otherwise never run.
func (t *tasks) startTooLate(a *attempt) bool {
	t.mu.Lock()
	wanted := !a.dropped && !t.closed
	if wanted {
		a.started = false
	}
	t.mu.Unlock()
	if wanted {
		t.d.loop.event(func(ev *grid.Event) { ev.Kind, ev.Attempt = grid.EvLate, a.id })
	}
	return wanted
}

// attemptEnded records that nothing of an attempt runs any more, and reports whether the node wants its result, and
// whether it is to be told of the end at all.
func (t *tasks) attemptEnded(a *attempt, ran bool) (wanted, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.ended = true
	if !ran {
		close(a.processKnown)
	}
	if a.dropped && !t.closed {
		t.removeFolder(a)
	}
	return !a.dropped, !t.closed
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

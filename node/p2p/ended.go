package p2p

import (
	"context"
	"errors"
	"time"

	"skep/exec/process"
	"skep/exec/sandbox"
	"skep/grid"
)

// wantedFor returns a context that ends when nobody wants an attempt any more.
func (t *tasks) wantedFor(a *attempt) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.d.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	a.unfetch = cancel // its inputs have come
	if a.gone {
		cancel()
	}
	return ctx, cancel
}

// roomEvery is the time between two tries to start a task for which the node has no processes to give.
var roomEvery = time.Second

// begin starts an attempt, by calling start, before the time that is not 0; nil: it came too late, or nobody wants it. Where other tasks have all the
// processes that the node may have it waits for their end: that is no failure of this one.
func (t *tasks) begin(a *attempt, until grid.Time, start func() (*process.Process, error)) (*process.Process, error) {
	ctx, cancel := t.wantedFor(a)
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

// late makes an attempt that came to its start too late ready to be started another time, and tells the node so. It reports
// false where the attempt was told to end meanwhile. The folder stays as it was prepared: where inputs take longer to copy
// than an owner's word lasts, the task would else never run.
func (t *tasks) late(a *attempt) bool {
	t.mu.Lock()
	wanted := !a.gone && !t.closed
	if wanted {
		a.started = false
	}
	t.mu.Unlock()
	if wanted {
		t.d.loop.event(func(ev *grid.Event) { ev.Kind, ev.Attempt = grid.EvLate, a.id })
	}
	return wanted
}

// ended notes that nothing of an attempt runs any more, and reports whether the node wants its result, and whether it is
// to know of the end at all.
func (t *tasks) ended(a *attempt, ran bool) (wanted, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.ended = true
	if !ran {
		close(a.ran)
	}
	if a.gone && !t.closed {
		t.discard(a)
	}
	return !a.gone, !t.closed
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

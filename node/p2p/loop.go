package p2p

import (
	"context"
	"sync"
	"time"

	"skep/grid"
	"skep/node/p2p/wire"
)

// Bounds of the loop.
const (
	maxInputs   = 1024 // inputs that wait; beyond it senders wait
	maxBatch    = 256  // inputs and wakes of one transaction
	maxDeferred = 1024 // deferred records: no effect depends on them, and they are not on disk

	pooledAttempts = 64 // attempts for which a pooled input keeps room

	maxDefer = 20 * time.Millisecond // how long deferred records wait for a commit with others
)

// input is an event for the loop, or a function to call between two steps.
type input struct {
	ev   grid.Event
	msg  grid.Message // what ev.Msg points to, if it is a message
	read func(grid.Time)
	done func() // called when it has been stepped; may be nil
}

var inputs = sync.Pool{New: func() any { return new(input) }}

// newInput returns an empty input from the pool.
func newInput() *input { return inputs.Get().(*input) }

func (in *input) free() {
	if in.done != nil {
		in.done()
	}
	in.ev, in.read, in.done = grid.Event{}, nil, nil
	if cap(in.msg.Attempts) > pooledAttempts {
		in.msg.Attempts = nil
	}
	inputs.Put(in)
}

// loop owns the node and steps it.
type loop struct {
	d    *Driver
	in   chan *input
	done chan struct{} // closed when no input is taken any more

	// Used by the loop's goroutine only.
	fx            grid.Effects
	steps         []effectCounts
	timers        timers
	batch         []*input
	reads         []*input
	codec         wire.Codec
	buf           []byte
	deferred      []grid.Record // to be committed at commitBy; the effects of their steps are out
	commitBy      grid.Time
	started       bool      // the node has had its first event
	lastDiskCheck grid.Time // time of the last check
	lowDisk       bool

	mu         sync.Mutex
	callers    map[uint64]chan string
	lastCaller uint64
}

func newLoop(d *Driver) *loop {
	return &loop{d: d, in: make(chan *input, maxInputs), done: make(chan struct{}), callers: make(map[uint64]chan string)}
}

// post hands an input to the loop; it waits while the queue is full. The loop must not call it.
func (l *loop) post(ctx context.Context, in *input) error {
	select {
	case l.in <- in:
		return nil
	default:
	}
	select {
	case l.in <- in:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
		return ErrClosed
	}
}

// event posts an event of the driver's own goroutines.
func (l *loop) event(fill func(*grid.Event)) {
	in := newInput()
	fill(&in.ev)
	l.post(context.Background(), in)
}

// read calls f between two steps and returns when it has returned.
func (l *loop) read(ctx context.Context, f func(grid.Time)) error {
	ended := make(chan struct{})
	in := newInput()
	in.read = func(at grid.Time) {
		defer close(ended)
		if ctx.Err() == nil {
			f(at)
		}
	}
	if err := l.post(ctx, in); err != nil {
		return err
	}
	select {
	case <-ended:
		return ctx.Err()
	case <-l.done:
		select {
		case <-ended:
			return nil
		default:
			return ErrClosed
		}
	}
}

// waitProcessed returns when all inputs posted before have been stepped, saved and their effects carried out, or
// never will be.
func (l *loop) waitProcessed() { l.read(context.Background(), func(grid.Time) {}) }

// newCaller returns a number for a caller and the channel of its reply.
func (l *loop) newCaller() (uint64, <-chan string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastCaller++
	ch := make(chan string, 1)
	l.callers[l.lastCaller] = ch
	return l.lastCaller, ch
}

func (l *loop) dropCaller(caller uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.callers, caller)
}

func (l *loop) reply(r *grid.Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ch := l.callers[r.Caller]; ch != nil {
		delete(l.callers, r.Caller)
		ch <- r.Err
	}
}

// run steps until the driver closes.
func (l *loop) run() {
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-l.d.ctx.Done():
			if err := l.commit(nil); err != nil {
				l.d.log.Error("the last records were not saved", "error", err)
			}
			return
		case in := <-l.in:
			l.batch = append(l.batch, in)
		case <-timer.C:
		}
		if err := l.turn(); err != nil {
			l.d.cfg.Fatal(err)
			return
		}
		wait := l.timers.next(now())
		if len(l.deferred) > 0 {
			wait = min(wait, max(l.commitBy.Sub(now()), 0))
		}
		timer.Reset(wait)
	}
}

// turn steps through the waiting inputs, commits their records, and carries out the effects.
func (l *loop) turn() error {
gather:
	for len(l.batch) < maxBatch {
		select {
		case in := <-l.in:
			l.batch = append(l.batch, in)
		default:
			break gather
		}
	}
	at := now()
	l.checkDisk(at)
	for _, in := range l.batch {
		if in.read != nil {
			l.reads = append(l.reads, in)
			continue
		}
		l.step(at, &in.ev)
		if in.ev.Kind == grid.EvStart {
			l.started = true
			l.checkDisk(at)
		}
	}
	for n := 0; n < maxBatch; n++ {
		w, ok := l.timers.due(at)
		if !ok {
			break
		}
		l.step(at, &grid.Event{Kind: grid.EvWake, Timer: w.Timer})
	}
	l.sendAll(true)
	if err := l.saveOrDefer(at); err != nil {
		return err
	}
	l.carryOut()
	for _, in := range l.reads {
		in.read(at)
	}
	for _, in := range l.batch {
		in.free()
	}
	l.batch, l.reads = l.batch[:0], l.reads[:0]
	return nil
}

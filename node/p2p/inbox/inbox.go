package inbox

import (
	"context"
	"errors"

	"skep/grid"
)

// Size is the number of inputs that wait; beyond it senders wait.
const Size = 1024

// ErrClosed is returned while and after the loop ends.
var ErrClosed = errors.New("the node is stopping")

// Inbox is the queue of one loop.
type Inbox struct {
	in     chan *Input
	closed chan struct{}
}

// Open returns an empty inbox.
func Open() *Inbox { return &Inbox{in: make(chan *Input, Size), closed: make(chan struct{})} }

// Inputs returns the channel from which the loop takes inputs. It is never closed.
func (q *Inbox) Inputs() <-chan *Input { return q.in }

// Len returns the number of inputs that wait.
func (q *Inbox) Len() int { return len(q.in) }

// Close makes all waiting and later calls return ErrClosed. The loop calls it once, when it ends.
func (q *Inbox) Close() { close(q.closed) }

// Closed returns a channel that is closed by Close.
func (q *Inbox) Closed() <-chan struct{} { return q.closed }

// Post puts an input in.
func (q *Inbox) Post(ctx context.Context, in *Input) error {
	select {
	case q.in <- in:
		return nil
	default:
	}
	select {
	case q.in <- in:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-q.closed:
		return ErrClosed
	}
}

// Event puts in an event that fill sets. It is lost if the loop has ended.
func (q *Inbox) Event(fill func(*grid.Event)) {
	in := New()
	fill(&in.Event)
	q.Post(context.Background(), in)
}

// Read calls f between two steps and returns when it has returned.
func (q *Inbox) Read(ctx context.Context, f func(grid.Time)) error {
	ended := make(chan struct{})
	in := New()
	in.Read = func(at grid.Time) {
		defer close(ended)
		if ctx.Err() == nil {
			f(at)
		}
	}
	if err := q.Post(ctx, in); err != nil {
		return err
	}
	select {
	case <-ended:
		return ctx.Err()
	case <-q.closed:
		select {
		case <-ended:
			return nil
		default:
			return ErrClosed
		}
	}
}

// Wait returns when all inputs posted before have been stepped, saved and their effects carried out, or never will
// be.
func (q *Inbox) Wait() { q.Read(context.Background(), func(grid.Time) {}) }

// Wake makes the loop turn, and returns before it has.
func (q *Inbox) Wake() {
	in := New()
	in.Read = func(grid.Time) {}
	q.Post(context.Background(), in)
}

package p2p

import (
	"context"

	"golang.org/x/sync/semaphore"

	"skep/grid"
)

// Bounds of what is taken in and not stepped yet, in bytes of frames and of the attempts that are in them. Up to intakeFree bytes are not counted: the
// number of messages is bounded. A larger frame takes its room as its bytes come, so who sends slowly holds no more than it has sent.
const (
	intakeAll   = 32 << 20
	intakePeer  = 8 << 20
	intakeFree  = 4 << 10
	intakePiece = 64 << 10
)

// intake is the room for the frames of one peer, out of that for all.
type intake struct {
	all, own *semaphore.Weighted
	ctx      context.Context // of the session
	held     int64           // by the frame that is being read
}

func newIntake(ctx context.Context, all *semaphore.Weighted) *intake {
	return &intake{all: all, own: semaphore.NewWeighted(intakePeer), ctx: ctx}
}

// take waits for room for some more bytes of a frame, and reports whether it had to.
func (i *intake) take(n int64) (waited bool, err error) {
	if i == nil {
		return false, nil
	}
	for _, s := range []*semaphore.Weighted{i.own, i.all} {
		if s.TryAcquire(n) {
			continue
		}
		waited = true
		if err := s.Acquire(i.ctx, n); err != nil {
			if s == i.all {
				i.own.Release(n)
			}
			return waited, err
		}
	}
	i.held += n
	return waited, nil
}

// attemptSize is how many bytes an attempt takes that has some five in a frame.
const attemptSize = 64

// decoded takes the room for what a frame has become.
func (i *intake) decoded(m *grid.Message) error {
	n := int64(len(m.Attempts)) * attemptSize
	if n <= intakeFree {
		return nil
	}
	_, err := i.take(min(n, intakePeer/2))
	return err
}

// release hands the room of the frame that was read to whoever calls the function that it returns, once; nil: it took none.
func (i *intake) release() func() {
	n := i.held
	if n == 0 {
		return nil
	}
	i.held = 0
	return func() {
		i.own.Release(n)
		i.all.Release(n)
	}
}

// drop gives the room of the frame back at once.
func (i *intake) drop() {
	if f := i.release(); f != nil {
		f()
	}
}

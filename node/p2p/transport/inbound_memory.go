package transport

import (
	"context"

	"golang.org/x/sync/semaphore"

	"skep/grid"
)

// Bounds, in bytes, of messages that are received and not stepped yet: their frames and the attempts in them.
// Frames up to inboundFree bytes are not counted: the number of messages is bounded. A larger frame reserves memory
// as its bytes arrive, so a slow sender holds no more than it has sent.
const (
	inboundAll     = 32 << 20
	inboundPerPeer = 8 << 20
	inboundFree    = 4 << 10
	inboundPiece   = 64 << 10
)

// inboundMemory bounds the memory for the frames of one peer, out of that for all.
type inboundMemory struct {
	all, own *semaphore.Weighted
	ctx      context.Context // of the session
	reserved int64           // by the frame that is being read
}

func newInboundMemory(ctx context.Context, all *semaphore.Weighted) *inboundMemory {
	return &inboundMemory{all: all, own: semaphore.NewWeighted(inboundPerPeer), ctx: ctx}
}

// reserve waits for room for some more bytes of a frame, and reports whether it had to wait.
func (i *inboundMemory) reserve(n int64) (waited bool, err error) {
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
	i.reserved += n
	return waited, nil
}

// The memory in bytes of an attempt, which takes about five in a frame, and of an entry with its result, which takes
// about thirty. There are few reports, so what they take is bounded by their number.
const (
	attemptSize = 64
	entrySize   = 400
	reportSize  = 288
)

// reserveDecoded reserves memory for the decoded attempts and entries of a frame.
func (i *inboundMemory) reserveDecoded(m *grid.Message) error {
	n := int64(len(m.Attempts))*attemptSize + int64(len(m.Register.Entries))*entrySize + int64(len(m.Reports))*reportSize
	if n <= inboundFree {
		return nil
	}
	_, err := i.reserve(min(n, inboundPerPeer/2))
	return err
}

// release hands the frame's memory over to the returned function, which frees it and may be called once; nil: it
// has none.
func (i *inboundMemory) release() func() {
	n := i.reserved
	if n == 0 {
		return nil
	}
	i.reserved = 0
	return func() {
		i.own.Release(n)
		i.all.Release(n)
	}
}

// releaseNow frees the frame's memory at once.
func (i *inboundMemory) releaseNow() {
	if f := i.release(); f != nil {
		f()
	}
}

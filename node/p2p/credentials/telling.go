package credentials

import (
	"context"
	"sync"
	"time"

	"skep/grid"
)

// A peer that could not be told is told again after tellAgain, at most tellTries times: then it is told when it
// connects again.
const (
	tellAgain = 5 * time.Second
	tellTries = 6
)

// telling tells peers that something has changed, each by itself, so that none waits for a slow one. What changes while
// a peer is being told is told afterwards.
type telling struct {
	exchange func(grid.NodeID) error
	work     sync.WaitGroup

	mu    sync.Mutex
	again map[grid.NodeID]bool // peers that are being told; true: there is more to tell
}

func newTelling(exchange func(grid.NodeID) error) *telling {
	return &telling{exchange: exchange, again: map[grid.NodeID]bool{}}
}

// tell begins to tell a peer, until ctx ends.
func (t *telling) tell(ctx context.Context, n grid.NodeID) {
	t.mu.Lock()
	_, busy := t.again[n]
	t.again[n] = busy
	t.mu.Unlock()
	if busy {
		return
	}
	t.work.Go(func() {
		t.try(ctx, n)
		for t.more(n, ctx.Err() != nil) {
			t.try(ctx, n)
		}
	})
}

// try tells a peer, again where that fails, until there is something new to tell.
func (t *telling) try(ctx context.Context, n grid.NodeID) {
	for range tellTries {
		if t.exchange(n) == nil || t.pending(n) || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(tellAgain):
		}
	}
}

// more reports whether a peer is to be told once more, as something has changed meanwhile; else it is done.
func (t *telling) more(n grid.NodeID, ending bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.again[n] && !ending {
		t.again[n] = false
		return true
	}
	delete(t.again, n)
	return false
}

// pending reports whether something has changed while a peer was told.
func (t *telling) pending(n grid.NodeID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.again[n]
}

// wait waits until nobody is being told.
func (t *telling) wait() { t.work.Wait() }

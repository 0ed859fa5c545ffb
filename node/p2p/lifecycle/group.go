package lifecycle

import (
	"context"
	"sync"
)

// Group is a set of goroutines with one context. It is ended in two steps: Cancel, after which no goroutine begins,
// and Wait. Between them the owner closes whatever a goroutine may block on. Its methods are safe for concurrent use.
type Group struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.RWMutex // read-locked to add to wait, so that nothing is added after Cancel
	wait sync.WaitGroup
}

// New returns a group whose context ends with parent, or with Cancel.
func New(parent context.Context) *Group {
	g := new(Group)
	g.ctx, g.cancel = context.WithCancel(parent)
	return g
}

// Context returns the context with which the goroutines end.
func (g *Group) Context() context.Context { return g.ctx }

// Begin adds the calling goroutine, which Done removes; false if the group is ending.
func (g *Group) Begin() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.ctx.Err() != nil {
		return false
	}
	g.wait.Add(1)
	return true
}

// Done removes a goroutine that Begin has added.
func (g *Group) Done() { g.wait.Done() }

// Go calls f in a goroutine of the group; false if the group is ending.
func (g *Group) Go(f func()) bool {
	if !g.Begin() {
		return false
	}
	go func() {
		defer g.Done()
		f()
	}()
	return true
}

// Cancel ends the context.
func (g *Group) Cancel() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cancel()
}

// Wait returns when all goroutines have ended. It must follow Cancel.
func (g *Group) Wait() { g.wait.Wait() }

package lifecycle

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

func TestNothingBeginsAfterTheEnd(t *testing.T) {
	for _, what := range []string{"Cancel", "the parent's end"} {
		parent, cancel := context.WithCancel(context.Background())
		g := New(parent)
		if !g.Begin() {
			t.Fatalf("before %s: Begin returns false", what)
		}
		g.Done()
		if what == "Cancel" {
			g.Cancel()
		}
		cancel()
		if g.Context().Err() == nil {
			t.Errorf("after %s the context has not ended", what)
		}
		if g.Begin() || g.Go(func() { t.Errorf("after %s: Go calls the function", what) }) {
			t.Errorf("after %s: Begin or Go returns true", what)
		}
		g.Cancel()
		g.Wait()
	}
}

// Whatever begins while the group ends has ended after Wait.
func TestWaitCoversAllThatBegan(t *testing.T) {
	for range 200 {
		g := New(context.Background())
		var running atomic.Int64
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for g.Go(func() { <-g.Context().Done(); running.Add(-1) }) {
					running.Add(1)
				}
			})
		}
		g.Cancel()
		g.Wait()
		callers.Wait()
		if n := running.Load(); n != 0 {
			t.Fatalf("%d goroutines run after Wait", n)
		}
	}
}

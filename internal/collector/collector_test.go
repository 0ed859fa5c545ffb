package collector

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// A large heap is collected before it doubles, and a small one when it has doubled.
func TestLargeHeapGrowsLess(t *testing.T) {
	before := debug.SetGCPercent(smallHeapGrow)
	defer debug.SetGCPercent(before)
	h := New()
	defer h.Stop()
	large := make([]byte, 2*largeHeap)
	await := func(want int) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			runtime.GC()
			now := debug.SetGCPercent(want)
			debug.SetGCPercent(now)
			if now == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the heap grows by %d %%, want %d", now, want)
			}
		}
	}
	await(largeHeapGrow)
	runtime.KeepAlive(large)
	large = nil
	await(smallHeapGrow)
}

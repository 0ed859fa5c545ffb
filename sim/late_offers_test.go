package sim

import (
	"testing"
	"time"

	"skep/node"
)

// A worker that ends many short tasks within a message's delay still recognises late copies of their offers.
func TestLateCopiesOfManyOffersStartNothing(t *testing.T) {
	c := lab()
	c.Network.Duplicate, c.Network.Reorder, c.Network.Jitter = 1, 0.7, 500*time.Millisecond
	c.Node = func(i int, c *node.Config) { c.Capacity.CPU = 64 * 1000; c.Window = 1000 }
	c.Machine = Machine{Rate: func(_ string, n int) float64 { return []float64{0, 1000, 1000, 1000, 1000}[n] }}
	s := spec("a", 2000, 1000)
	s.Retries = 0
	work(&c, 5*time.Second, 20*time.Millisecond, 1, []int{0}, s)
	play(t, c, func(t *testing.T, w *World, r Report) {
		for k := range 2000 {
			if o := w.Outcome(0, k); o.Starts != 1 || o.Result.Exit != 0 {
				t.Fatalf("task %d: %d starts, exit %d", k, o.Starts, o.Result.Exit)
			}
		}
	})
}

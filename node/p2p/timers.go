package p2p

import (
	"time"

	"skep/grid"
)

// timers is a heap of the wakes that the node asked for, earliest first; equal times in the order asked.
type timers struct {
	heap []timer
	n    uint64
}

type timer struct {
	grid.Wake
	n uint64
}

func (a *timer) before(b *timer) bool { return a.At < b.At || a.At == b.At && a.n < b.n }

// set adds a wake. grid.Never is not stored.
func (t *timers) set(w grid.Wake) {
	if w.At == grid.Never {
		return
	}
	t.n++
	t.heap = append(t.heap, timer{w, t.n})
	h := t.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(&h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

// due removes the earliest wake if its time has come.
func (t *timers) due(now grid.Time) (w grid.Wake, ok bool) {
	h := t.heap
	if len(h) == 0 || h[0].At > now {
		return w, false
	}
	w = h[0].Wake
	last := len(h) - 1
	h[0] = h[last]
	t.heap = h[:last]
	h = t.heap
	for i := 0; ; {
		low := 2*i + 1
		if low >= len(h) {
			break
		}
		if low+1 < len(h) && h[low+1].before(&h[low]) {
			low++
		}
		if !h[low].before(&h[i]) {
			break
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
	return w, true
}

// next returns how long to sleep until the next wake; an hour if there is none.
func (t *timers) next(now grid.Time) time.Duration {
	if len(t.heap) == 0 {
		return time.Hour
	}
	return min(max(t.heap[0].At.Sub(now), 0), time.Hour)
}

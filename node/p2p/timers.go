package p2p

import (
	"time"

	"skep/grid"
	"skep/heap"
)

// timers are the wakes that the node asked for, earliest first; equal times in the order asked.
type timers struct {
	wakes heap.Heap[grid.Time, timer, byAsked]
	n     uint64
}

type timer struct {
	grid.Timer
	n uint64
}

// byAsked orders wakes at the same time.
type byAsked struct{}

// Before implements [heap.Order].
func (byAsked) Before(a, b timer) bool { return a.n < b.n }

// set adds a wake. grid.Never is not stored.
func (t *timers) set(w grid.Wake) {
	if w.At != grid.Never {
		t.n++
		t.wakes.Push(w.At, timer{w.Timer, t.n})
	}
}

// due removes the earliest wake if its time has come.
func (t *timers) due(now grid.Time) (w grid.Wake, ok bool) {
	if t.wakes.Len() == 0 {
		return w, false
	}
	if at, _ := t.wakes.First(); at > now {
		return w, false
	}
	at, x := t.wakes.Pop()
	return grid.Wake{At: at, Timer: x.Timer}, true
}

// next returns how long to sleep until the next wake; an hour if there is none.
func (t *timers) next(now grid.Time) time.Duration {
	if t.wakes.Len() == 0 {
		return time.Hour
	}
	at, _ := t.wakes.First()
	return min(max(at.Sub(now), 0), time.Hour)
}

package mesh

import (
	"math"
	"sort"
)

// Trace is a step function of time, in seconds from 0. It is drawn as far as it is asked for.
type Trace struct {
	at, value []float64
	next      func() (value, lasts float64)
	end       float64
}

// Constant is a trace of one value.
func Constant(x float64) *Trace {
	return &Trace{at: []float64{0}, value: []float64{x}, end: math.Inf(1)}
}

// NewTrace draws steps one after the other: the value of each, and for how many seconds it lasts, more than 0.
func NewTrace(next func() (value, lasts float64)) *Trace { return &Trace{next: next} }

// Value returns the value at a time, and until when it lasts.
func (t *Trace) Value(now float64) (value, until float64) {
	for t.end <= now {
		v, lasts := t.next()
		t.at, t.value = append(t.at, t.end), append(t.value, v)
		t.end += lasts
	}
	k := len(t.at) - 1
	if t.at[k] > now {
		k = sort.Search(len(t.at), func(k int) bool { return t.at[k] > now }) - 1
	}
	if k+1 < len(t.at) {
		return t.value[k], t.at[k+1]
	}
	return t.value[k], t.end
}

// After returns when a thing that goes at rate times the trace's value has done an amount of work.
func (t *Trace) After(now, work, rate float64) float64 {
	for {
		v, until := t.Value(now)
		done := rate * v * (until - now)
		if math.IsInf(until, 1) || done >= work {
			return now + work/(rate*v)
		}
		work, now = work-done, until
	}
}

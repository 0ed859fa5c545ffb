package reallocation

import (
	"cmp"
	"math"
	"slices"
)

// ending is when running work gives back processors.
type ending struct {
	at    float64
	procs int
}

// listEnds lists for each cluster when its processors will be free, the first first.
func (e *engine) listEnds() {
	if e.ends == nil {
		e.ends = make([][]ending, len(e.free))
	}
	for k := range e.ends {
		e.ends[k] = e.ends[k][:0]
	}
	for k := range e.tasks[:e.arrived] {
		if t := &e.tasks[k]; t.on >= 0 {
			o := &t.options[t.on]
			e.ends[o.cluster] = append(e.ends[o.cluster], ending{t.ends, o.procs})
		}
	}
	for k := range e.ends {
		slices.SortFunc(e.ends[k], func(a, b ending) int { return cmp.Compare(a.at, b.at) })
	}
}

// soonest is when an option will fit if nothing else starts, and how many processors of its cluster it will leave then.
func (e *engine) soonest(o *option) (at float64, left int) {
	free := e.free[o.cluster]
	if free >= o.procs {
		return e.now, free - o.procs
	}
	for _, x := range e.ends[o.cluster] {
		if free += x.procs; free >= o.procs {
			return x.at, free - o.procs
		}
	}
	return math.Inf(1), 0
}

package grid

import "slices"

// OfferedTasks says which tasks of a job may have been offered to a worker: those below Below that are not in Free.
type OfferedTasks struct {
	Below uint32 // > 0
	// Free are tasks below Below of which no attempt can start: they were not offered, or each attempt came back and
	// has not started. Ascending and apart, MaxFree at most. Read only.
	Free []TaskSpan
}

// TaskSpan is the tasks From … To−1 of a job.
type TaskSpan struct{ From, To uint32 }

// MaxFree bounds the spans of [OfferedTasks.Free].
const MaxFree = 32

// Has reports whether a task may have been offered.
func (o *OfferedTasks) Has(i uint32) bool {
	return i < o.Below && !slices.ContainsFunc(o.Free, func(s TaskSpan) bool { return s.From <= i && i < s.To })
}

// Valid reports whether that can be said of a job of so many tasks.
func (o *OfferedTasks) Valid(count uint32) bool {
	last := uint32(0)
	for k, s := range o.Free {
		if s.From >= s.To || s.To > o.Below || k > 0 && s.From <= last {
			return false
		}
		last = s.To
	}
	return o.Below > 0 && o.Below <= count && len(o.Free) <= MaxFree
}

// OfferedBatch is how many tasks at a time may be offered: see [FirstOffered].
const OfferedBatch = 64

// FirstOffered is which tasks of a job of so many may have been offered as long as its register does not say: the first
// batch, so that a short job writes nothing.
func FirstOffered(count uint32) *OfferedTasks { return &OfferedTasks{Below: min(OfferedBatch, count)} }

// With returns the tasks that are in o or in x, and if Free has no room for all spans, some more.
func (o *OfferedTasks) With(x *OfferedTasks) *OfferedTasks {
	both := &OfferedTasks{Below: max(o.Below, x.Below)}
	left := func(o *OfferedTasks) []TaskSpan {
		return append(o.Free[:len(o.Free):len(o.Free)], TaskSpan{o.Below, both.Below})
	}
	for _, a := range left(o) {
		for _, b := range left(x) {
			if s := (TaskSpan{max(a.From, b.From), min(a.To, b.To)}); s.From < s.To {
				if k := len(both.Free); k > 0 && both.Free[k-1].To == s.From {
					both.Free[k-1].To = s.To
				} else {
					both.Free = append(both.Free, s)
				}
			}
		}
	}
	both.Free = both.Free[max(len(both.Free)-MaxFree, 0):]
	return both
}

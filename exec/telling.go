package exec

import (
	"cmp"
	"container/heap"

	"skep/grid"
)

// Results that their owners have not acknowledged are told again, each at a time of its own. Of the thousands that an owner which is away
// leaves here only those are looked at whose time has come.

// telling has the work in front whose result is told first; each knows its place, counted from 1.
type telling []*Work

func (q telling) Len() int { return len(q) }

func (q telling) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(q[i].Due, q[k].Due), cmp.Compare(q[i].turn, q[k].turn)) < 0
}

func (q telling) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].place, q[k].place = i+1, k+1
}

// Push implements [heap.Interface].
func (q *telling) Push(x any) {
	w := x.(*Work)
	*q = append(*q, w)
	w.place = len(*q)
}

// Pop implements [heap.Interface].
func (q *telling) Pop() any {
	old := *q
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	w.place = 0
	return w
}

// Tell says when the result of finished work is told again.
func (e *Exec) Tell(w *Work, at grid.Time) {
	if w.Due = at; w.place > 0 {
		heap.Fix(&e.telling, w.place-1)
		return
	}
	heap.Push(&e.telling, w)
}

// Hush says that a result is not told any more, until Tell.
func (e *Exec) Hush(w *Work) {
	if w.place > 0 {
		heap.Remove(&e.telling, w.place-1)
	}
}

// Told returns the work whose result is told first; nil if none is told.
func (e *Exec) Told() *Work {
	if len(e.telling) == 0 {
		return nil
	}
	return e.telling[0]
}

// finish lists work that has a result, behind all that ended before.
func (e *Exec) finish(w *Work) {
	e.ends++
	w.turn = e.ends
	e.finished = append(e.finished, w)
}

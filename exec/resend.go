package exec

import (
	"cmp"
	"container/heap"

	"skep/grid"
)

// Results that their owners have not acknowledged are sent again, each at a time of its own. Of the thousands that an
// unreachable owner may leave here, only due ones are examined.

// resendHeap is a heap of finished work by resend time; each knows its place, counted from 1.
type resendHeap []*Work

func (q resendHeap) Len() int { return len(q) }

func (q resendHeap) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(q[i].Due, q[k].Due), cmp.Compare(q[i].order, q[k].order)) < 0
}

func (q resendHeap) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].resendPlace, q[k].resendPlace = i+1, k+1
}

// Push implements [heap.Interface].
func (q *resendHeap) Push(x any) {
	w := x.(*Work)
	*q = append(*q, w)
	w.resendPlace = len(*q)
}

// Pop implements [heap.Interface].
func (q *resendHeap) Pop() any {
	old := *q
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	w.resendPlace = 0
	return w
}

// ScheduleResend sets when the result of finished work is sent again.
func (e *Exec) ScheduleResend(w *Work, at grid.Time) {
	if w.Due = at; w.resendPlace > 0 {
		heap.Fix(&e.resends, w.resendPlace-1)
		return
	}
	heap.Push(&e.resends, w)
}

// CancelResend stops resends of a result, until ScheduleResend.
func (e *Exec) CancelResend(w *Work) {
	if w.resendPlace > 0 {
		heap.Remove(&e.resends, w.resendPlace-1)
	}
}

// NextResend returns the work whose result is to be sent next; nil if there is none.
func (e *Exec) NextResend() *Work {
	if len(e.resends) == 0 {
		return nil
	}
	return e.resends[0]
}

// finish appends work that has a result to finished.
func (e *Exec) finish(w *Work) {
	e.finishCount++
	w.order = e.finishCount
	e.finished = append(e.finished, w)
}

package exec

import (
	"skep/grid"
	"skep/heap"
)

// Results that their owners have not acknowledged are sent again, each at a time of its own. Of the thousands that an
// unreachable owner may leave here, only due ones are examined.

// resendHeap is the finished work by resend time; each knows its place, counted from 1.
type resendHeap = heap.Heap[grid.Time, *Work, byEnd]

// byEnd orders work of equal resend times by its end.
type byEnd struct{}

// Before implements [heap.Order].
func (byEnd) Before(a, b *Work) bool { return a.order < b.order }

func (w *Work) setResendPlace(i int) { w.resendPlace = i + 1 }

// ScheduleResend sets when the result of finished work is sent again.
func (e *Exec) ScheduleResend(w *Work, at grid.Time) {
	if w.Due = at; w.resendPlace > 0 {
		e.resends.Update(w.resendPlace-1, at)
		return
	}
	e.resends.Push(at, w)
}

// CancelResend stops resends of a result, until ScheduleResend.
func (e *Exec) CancelResend(w *Work) {
	if w.resendPlace > 0 {
		e.resends.Remove(w.resendPlace - 1)
	}
}

// NextResend returns the work whose result is to be sent next; nil if there is none.
func (e *Exec) NextResend() *Work {
	if e.resends.Len() == 0 {
		return nil
	}
	_, w := e.resends.First()
	return w
}

// finish appends work that has a result to finished.
func (e *Exec) finish(w *Work) {
	e.finishCount++
	w.order = e.finishCount
	e.finished = append(e.finished, w)
}

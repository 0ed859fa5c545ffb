package brokers

import "skep/heap"

// happening is something that is due.
type happening struct {
	seq  uint64 // of equal times the earlier made is first
	what what
	job  *job
}

type what uint8

const (
	read   what = iota // resources near or far tell their states
	readAt             // those of other clusters
	decide             // all answers are there
	join               // the job is at its resource
	back               // the job is at its broker again
)

// bySeq orders what is due at the same time.
type bySeq struct{}

// Before implements [heap.Order].
func (bySeq) Before(a, b happening) bool { return a.seq < b.seq }

// agenda is what is due, by time.
type agenda struct {
	due heap.Heap[float64, happening, bySeq]
	seq uint64
}

func (a *agenda) add(at float64, w what, j *job) {
	a.seq++
	a.due.Push(at, happening{a.seq, w, j})
}

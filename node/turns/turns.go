package turns

import (
	"skep/balance/order"
	"skep/grid"
	"skep/heap"
)

// Queue is the jobs of an owner.
type Queue[T any] struct {
	lines *order.Lines[jobs[T]] // nil until a job comes
	cfg   *order.Config
	size  func(class string) float64
	moved func(x T, index int)
	front *Line[T] // that First returned last
	count int
}

// Line is the jobs that go first come, first served.
type Line[T any] = order.Line[jobs[T]]

// jobs are those of a line, by their number.
type jobs[T any] struct {
	heap.Heap[uint64, entry[T], heap.Unique[entry[T]]]
}

type entry[T any] struct {
	x    T
	came grid.Time
}

// New returns an empty queue. size is the expected run time of a task of a class in seconds; moved is told the index of
// each job in its line whenever that changes, −1 = it left.
func New[T any](cfg *order.Config, size func(class string) float64, moved func(x T, index int)) Queue[T] {
	return Queue[T]{cfg: cfg, size: size, moved: moved}
}

// Len is the number of jobs.
func (q *Queue[T]) Len() int { return q.count }

// Push adds a job, and returns its line, which is valid until the job leaves. Jobs of a line go by their number.
func (q *Queue[T]) Push(k order.Key, number uint64, came grid.Time, x T) *Line[T] {
	if q.lines == nil {
		q.lines = order.New[jobs[T]](q.cfg, q.size)
	}
	l := q.lines.Enter(k)
	if l.Of.Len() == 0 {
		l.Of.Track(func(e entry[T], index int) { q.moved(e.x, index) })
	}
	l.Of.Push(number, entry[T]{x, came})
	q.setFirst(l)
	q.count++
	return l
}

// First returns the job whose turn it is, of a queue that is not empty.
func (q *Queue[T]) First(now grid.Time) T {
	q.front = q.lines.Best(now)
	_, e := q.front.Of.First()
	return e.x
}

// Pop removes the job that First returned.
func (q *Queue[T]) Pop() { q.Remove(q.front, 0) }

// Remove removes the job at an index of its line.
func (q *Queue[T]) Remove(l *Line[T], index int) {
	l.Of.Remove(index)
	q.count--
	q.setFirst(l)
	q.lines.Release(l)
}

// Placed counts a task of the job that First returned, which is expected to use so many core-seconds.
func (q *Queue[T]) Placed(now grid.Time, used float64) { q.lines.Charge(now, q.front, used) }

func (q *Queue[T]) setFirst(l *Line[T]) {
	if l.Of.Len() == 0 {
		q.lines.SetFirst(l, 0, false)
		return
	}
	_, e := l.Of.First()
	q.lines.SetFirst(l, e.came, true)
}

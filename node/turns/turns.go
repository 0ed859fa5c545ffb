package turns

import (
	"cmp"

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
	usual float64 // seconds that a task is expected to take, of those for which that is known; 0 = none was
}

// newcomer is the expected run time in seconds of the first tasks, of which nothing is known.
const newcomer = 1

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
func (q *Queue[T]) Pop() {
	q.Remove(q.front, 0)
	q.front = nil
}

// Remove removes the job at an index of its line.
func (q *Queue[T]) Remove(l *Line[T], index int) {
	l.Of.Remove(index)
	q.count--
	q.setFirst(l)
	if q.lines.Release(l); q.count == 0 {
		q.lines.DropIdle()
	}
}

// Task is tasks that are placed together.
type Task struct {
	Key   order.Key // of their job
	Cores float64   // of all
	Time  float64   // seconds that each is expected to take; 0 = nothing is known
}

// Placed counts tasks that are placed, of a job in the queue or not. Those of which nothing is known count with what
// others take on the average: else a class for each job would cost nothing.
func (q *Queue[T]) Placed(now grid.Time, t Task) {
	if q.lines == nil || !q.lines.CountsUse() {
		return
	}
	if t.Time <= 0 {
		t.Time = cmp.Or(q.usual, newcomer)
	} else if q.usual == 0 {
		q.usual = t.Time
	} else {
		q.usual += (t.Time - q.usual) / 16
	}
	l := q.lines.Enter(t.Key)
	q.lines.Charge(now, l, t.Cores*t.Time)
	q.lines.Release(l)
}

func (q *Queue[T]) setFirst(l *Line[T]) {
	if l.Of.Len() == 0 {
		q.lines.SetFirst(l, 0, false)
		return
	}
	_, e := l.Of.First()
	q.lines.SetFirst(l, e.came, true)
}

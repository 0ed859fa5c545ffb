package queueing

import "sort"

// task is one task in the system.
type task struct {
	since float64 // when it arrived
	size  float64 // its execution time over the mean of its class on the machine
	class int32
}

// fifo is a queue of tasks in a ring.
type fifo struct {
	buf  []task
	head int
	n    int
}

func (q *fifo) first() *task { return &q.buf[q.head] }

func (q *fifo) push(t task) {
	if q.n == len(q.buf) {
		q.grow()
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = t
	q.n++
}

// insert puts a task where its arrival belongs, behind those that came at the same time. It moves the fewer of those
// before it and those behind.
func (q *fifo) insert(t task) {
	if q.n == len(q.buf) {
		q.grow()
	}
	mask := len(q.buf) - 1
	at := func(k int) *task { return &q.buf[(q.head+k)&mask] }
	place := sort.Search(q.n, func(k int) bool { return at(k).since > t.since })
	q.n++
	if 2*place < q.n {
		q.head = (q.head - 1) & mask
		for k := range place {
			*at(k) = *at(k + 1)
		}
	} else {
		for k := q.n - 1; k > place; k-- {
			*at(k) = *at(k - 1)
		}
	}
	*at(place) = t
}

// back puts a task before all others.
func (q *fifo) back(t task) {
	if q.n == len(q.buf) {
		q.grow()
	}
	q.head = (q.head - 1) & (len(q.buf) - 1)
	q.buf[q.head] = t
	q.n++
}

func (q *fifo) pop() task {
	t := q.buf[q.head]
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
	return t
}

func (q *fifo) grow() {
	buf := make([]task, max(8, 2*len(q.buf)))
	for k := range q.n {
		buf[k] = q.buf[(q.head+k)&(len(q.buf)-1)]
	}
	q.buf, q.head = buf, 0
}

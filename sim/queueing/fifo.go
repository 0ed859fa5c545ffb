package queueing

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

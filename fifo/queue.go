package fifo

// Queue is what has been added and not been taken yet, oldest first. Its memory is used again once it is empty. The
// zero value is an empty queue.
type Queue[T any] struct {
	items []T
	taken int // the first items
}

// Add adds an item.
func (q *Queue[T]) Add(x T) { q.items = append(q.items, x) }

// Empty reports whether every item has been taken.
func (q *Queue[T]) Empty() bool { return q.taken == len(q.items) }

// Take takes the oldest item; false = there is none.
func (q *Queue[T]) Take() (x T, found bool) {
	if q.Empty() {
		return x, false
	}
	x = q.items[q.taken]
	if q.taken++; q.Empty() {
		clear(q.items)
		q.items, q.taken = q.items[:0], 0
	}
	return x, true
}

package knapsack

// queue is a heap of options, the first to go at the top. Of many options few fit, so that not all need to be sorted.
type queue []ranked

func newQueue(list []ranked) queue {
	q := queue(list)
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
	return q
}

// pop takes the first of a queue that is not empty.
func (q queue) pop() (ranked, queue) {
	first, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	q.sink(0)
	return first, q
}

func (q queue) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q[child+1].before(q[child]) {
			child++
		}
		if !q[child].before(q[i]) {
			return
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}

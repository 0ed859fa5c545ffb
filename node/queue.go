package node

import (
	"cmp"
	"container/heap"
)

// nowhere is the place of a live task that is in neither of the node's queues.
const nowhere = -1

// queue holds the tasks that are to be placed again, oldest submission first. Each knows its place, so that one
// of a hundred thousand is taken out without a search.
type queue []*live

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(q[i].task.Arrived, q[k].task.Arrived), cmp.Compare(q[i].handle, q[k].handle)) < 0
}

func (q queue) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].at, q[k].at = i, k
}

// Push implements [heap.Interface].
func (q *queue) Push(x any) {
	l := x.(*live)
	l.at = len(*q)
	*q = append(*q, l)
}

// Pop implements [heap.Interface].
func (q *queue) Pop() any {
	old := *q
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	l.at = nowhere
	return l
}

// retry puts a task back into the queue, before younger ones.
func (n *Node) retry(l *live) {
	l.phase = idle
	heap.Push(&n.again, l)
}

// park lets a task wait until it is woken or somebody comes; the order of those who wait means nothing.
func (n *Node) park(l *live) {
	l.phase, l.at = waits, len(n.waiting)
	n.waiting = append(n.waiting, l)
}

// dequeue takes a task out of the queue that it is in, if any.
func (n *Node) dequeue(l *live) {
	switch {
	case l.at == nowhere:
	case l.phase == waits:
		last := len(n.waiting) - 1
		n.waiting[l.at] = n.waiting[last]
		n.waiting[l.at].at = l.at
		n.waiting[last] = nil
		n.waiting = n.waiting[:last]
		l.at = nowhere
	default:
		heap.Remove(&n.again, l.at)
	}
}

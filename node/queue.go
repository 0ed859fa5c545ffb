package node

import (
	"cmp"
	"container/heap"
	"slices"

	"skep/grid"
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
	if l.unproven {
		l.job.stuck++
		n.unproven++
	}
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
		l.at, l.lone = nowhere, false
		if l.unproven {
			l.unproven = false
			l.job.stuck--
			n.unproven--
		}
	default:
		heap.Remove(&n.again, l.at)
	}
}

// pump begins decisions while the window has room: first what is placed again, with its old age, then what
// was submitted, in order.
func (n *Node) pump(now grid.Time, fx *grid.Effects) {
	ahead := 0 // jobs that wait for somebody to deliver, or whose registers have no majority now
	for n.deciding < n.cfg.Window {
		if len(n.again) > 0 {
			l := heap.Pop(&n.again).(*live)
			if !l.looks && l.job.stuck > 0 { // one of its job looks for all
				l.unproven = true
				n.park(l)
				continue
			}
			l.looks = false
			n.place(now, l, fx)
			continue
		}
		if len(n.fresh) == ahead {
			return
		}
		j := n.fresh[ahead]
		if j.stuck > 0 || !n.acts(now, j) && !n.plans(j) {
			ahead++
			continue
		}
		if n.gathers(j) {
			return
		}
		for j.next < j.spec.Count && (j.tasks[j.next].state != grid.Pending || j.tasks[j.next].live != nil) {
			j.next++
		}
		if j.next == j.spec.Count {
			n.fresh = slices.Delete(n.fresh, ahead, ahead+1)
			n.exhausted(j)
			continue
		}
		n.place(now, n.enliven(j, j.next), fx)
	}
}

// refill starts what has room now that attempts were let go of: after the last of them, for the next in the
// queue may be among them.
func (n *Node) refill(now grid.Time, fx *grid.Effects) {
	if n.freed {
		n.freed = false
		n.run(now, fx)
		n.changed(now, fx)
	}
}

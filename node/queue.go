package node

import (
	"cmp"
	"container/heap"

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
	l.phase = waits
	if l.lone {
		g := l.job.guard
		l.at, g.lone = len(g.lone), append(g.lone, l)
		n.stall(l.job)
		return
	}
	if l.unproven {
		l.job.stuck++
		n.unproven++
	}
	l.at, n.waiting = len(n.waiting), append(n.waiting, l)
}

// dequeue takes a task out of the queue that it is in, if any.
func (n *Node) dequeue(l *live) {
	switch {
	case l.at == nowhere:
	case l.phase == waits && l.lone:
		l.leave(&l.job.guard.lone)
		l.lone = false
	case l.phase == waits:
		l.leave(&n.waiting)
		if l.unproven {
			l.unproven = false
			n.unproven--
			if l.job.stuck--; l.job.stuck == 0 {
				n.rejoin(l.job)
			}
		}
	default:
		heap.Remove(&n.again, l.at)
	}
}

// leave takes a task off a list of those that wait.
func (l *live) leave(list *[]*live) {
	s := *list
	last := len(s) - 1
	s[l.at] = s[last]
	s[l.at].at = l.at
	s[last] = nil
	*list, l.at = s[:last], nowhere
}

// pump begins decisions while the window has room: first what is placed again, with its old age, then what
// was submitted, in order.
func (n *Node) pump(now grid.Time, fx *grid.Effects) {
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
		if len(n.fresh) == 0 {
			return
		}
		j := n.fresh[0]
		if lone := !n.acts(now, j) && !n.plans(j); lone || j.stuck > 0 {
			heap.Pop(&n.fresh)
			j.aside = true
			if lone {
				n.stall(j)
			}
			continue
		}
		if n.gathers(j) {
			return
		}
		for j.next < j.spec.Count && (j.state(j.next) != grid.Pending || j.at(j.next).live != nil) {
			j.next++
		}
		if j.next == j.spec.Count {
			heap.Pop(&n.fresh)
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

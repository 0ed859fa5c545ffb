package node

import (
	"cmp"
	"container/heap"
	"slices"

	"skep/grid"
)

// calm is a cancelled job of which a node may still start something. That is over when every worker has said that it
// does not have what it was given, or when no owner's word can hold any more: wait(L) after the last was given.
type calm struct {
	until   grid.Time
	asked   grid.Time // when the workers were asked last
	outs    []issued  // what others had, by index of the task
	left    int       // of them, not known to be let go of
	callers []uint64
	look    grid.Time // when it is looked at next
	at      int       // in calms
}

// calms are the cancelled jobs that callers wait for, or may.
type calms struct {
	jobs calmed
	wake grid.Time // when the first of them is looked at
}

// calmed has the job in front that is looked at first.
type calmed []*job

func (q calmed) Len() int { return len(q) }

func (q calmed) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(q[i].calm.look, q[k].calm.look), q[i].id.Compare(q[k].id)) < 0
}

func (q calmed) Swap(i, k int) {
	q[i], q[k] = q[k], q[i]
	q[i].calm.at, q[k].calm.at = i, k
}

// Push implements [heap.Interface].
func (q *calmed) Push(x any) {
	j := x.(*job)
	j.calm.at = len(*q)
	*q = append(*q, j)
}

// Pop implements [heap.Interface].
func (q *calmed) Pop() any {
	old := *q
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return j
}

// issued is an attempt, and who was given it.
type issued struct {
	id     grid.AttemptID
	worker grid.NodeID
	over   bool
}

// unquiet notes that an attempt is given up without knowing that its worker does not have it.
func (n *Node) unquiet(now grid.Time, j *job, worker grid.NodeID) {
	if worker != n.cfg.Self {
		j.quiet = max(j.quiet, now.Add(wait(n.cfg.Lease)))
	}
}

// silence notes, before a job's tasks are ended, what others have of it.
func (n *Node) silence(now grid.Time, j *job) {
	c := &calm{until: now.Add(wait(n.cfg.Lease))}
	for i, t := range j.known() {
		if (t.state == grid.Offered || t.state == grid.Placed) && t.worker != n.cfg.Self {
			c.outs = append(c.outs, issued{id: j.attempt(i), worker: t.worker})
		}
		if l := t.live; l != nil && l.twin != nil && l.twin.worker != n.cfg.Self {
			c.outs = append(c.outs, issued{id: l.twinID(), worker: l.twin.worker})
		}
	}
	c.left = len(c.outs)
	if old := j.calm; old != nil { // it was cancelled before, in vain
		heap.Remove(&n.calms.jobs, old.at)
		c.callers = old.callers
	}
	j.calm = c
	heap.Push(&n.calms.jobs, j)
}

// answerCancel answers who cancelled a job, as soon as that is true.
func (n *Node) answerCancel(now grid.Time, j *job, caller uint64, fx *grid.Effects) {
	if j.calm == nil && now < j.quiet {
		j.calm = &calm{until: j.quiet}
		heap.Push(&n.calms.jobs, j)
	}
	if j.calm == nil {
		fx.Reply(caller, j.id, "")
		return
	}
	j.calm.callers = append(j.calm.callers, caller)
	n.calmOne(now, j, len(fx.Sends), fx)
	n.wakeCalm(now, fx)
}

// confirm notes that a worker does not have an attempt of a cancelled job, or that it has ended there.
func (n *Node) confirm(now grid.Time, from grid.NodeID, id grid.AttemptID, fx *grid.Effects) bool {
	j := n.job(id.Task.Job)
	if j == nil || j.calm == nil {
		return false
	}
	c := j.calm
	at, ok := slices.BinarySearchFunc(c.outs, id.Task.Index, func(o issued, i uint32) int { return cmp.Compare(o.id.Task.Index, i) })
	if ok && c.outs[at].id != id && at+1 < len(c.outs) { // a second copy stands behind the first
		at++
	}
	if !ok || c.outs[at].over || c.outs[at].id != id || c.outs[at].worker != from {
		return false
	}
	c.outs[at].over = true
	if c.left--; c.left == 0 {
		n.calmOne(now, j, len(fx.Sends), fx)
		n.wakeCalm(now, fx)
	}
	return true
}

// calmDown answers for the jobs of which nothing can start any more, and asks the workers of the others, where it is time for that.
func (n *Node) calmDown(now grid.Time, fx *grid.Effects) {
	for first := len(fx.Sends); len(n.calms.jobs) > 0 && n.calms.jobs[0].calm.look <= now; {
		n.calmOne(now, n.calms.jobs[0], first, fx)
	}
	n.wakeCalm(now, fx)
}

// calmOne does so for one job.
func (n *Node) calmOne(now grid.Time, j *job, first int, fx *grid.Effects) {
	c := j.calm
	if now >= c.until || c.left == 0 && now >= j.quiet {
		n.uncalm(j)
		n.reply(&c.callers, j.id, fx)
		n.filing = append(n.filing, j)
		return
	}
	c.look = c.until
	if c.left == 0 {
		c.look = min(c.look, j.quiet)
	} else {
		if c.asked == 0 || now >= c.asked.Add(n.cfg.Lease/6) {
			c.asked = now
			c.ask(first, fx)
		}
		c.look = min(c.look, c.asked.Add(n.cfg.Lease/6))
	}
	heap.Fix(&n.calms.jobs, c.at)
}

// uncalm notes that a cancelled job is not waited for any more.
func (n *Node) uncalm(j *job) {
	heap.Remove(&n.calms.jobs, j.calm.at)
	j.calm = nil
}

// wakeCalm sees to the next look.
func (n *Node) wakeCalm(now grid.Time, fx *grid.Effects) {
	if len(n.calms.jobs) == 0 {
		return
	}
	if next := n.calms.jobs[0].calm.look; n.calms.wake <= now || next < n.calms.wake {
		n.calms.wake = max(next, now)
		fx.Wake(n.calms.wake, grid.TimerGuard, calmKey)
	}
}

// ask asks who has not let go yet. Who answers that it has nothing takes no late offer of it either.
func (c *calm) ask(first int, fx *grid.Effects) {
	for k := range c.outs {
		if o := &c.outs[k]; !o.over {
			m := batch(fx, first, o.worker, grid.KindAsk)
			m.Attempts = append(m.Attempts, o.id)
		}
	}
}

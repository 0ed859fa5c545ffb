package node

import (
	"cmp"
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
}

// calms are the cancelled jobs that callers wait for, or may.
type calms struct {
	jobs []*job
	wake grid.Time // when they are looked at next
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
	for i := range j.tasks {
		if t := &j.tasks[i]; (t.state == grid.Offered || t.state == grid.Placed) && t.worker != n.cfg.Self {
			c.outs = append(c.outs, issued{id: j.attempt(uint32(i)), worker: t.worker})
		}
		if l := j.tasks[i].live; l != nil && l.twin != nil && l.twin.worker != n.cfg.Self {
			c.outs = append(c.outs, issued{id: l.twinID(), worker: l.twin.worker})
		}
	}
	c.left = len(c.outs)
	j.calm = c
	n.calms.jobs = append(n.calms.jobs, j)
}

// answerCancel answers who cancelled a job, as soon as that is true.
func (n *Node) answerCancel(now grid.Time, j *job, caller uint64, fx *grid.Effects) {
	if j.calm == nil && now < j.quiet {
		j.calm = &calm{until: j.quiet}
		n.calms.jobs = append(n.calms.jobs, j)
	}
	if j.calm == nil {
		fx.Reply(caller, j.id, "")
		return
	}
	j.calm.callers = append(j.calm.callers, caller)
	n.calmDown(now, fx)
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
		n.calmDown(now, fx)
	}
	return true
}

// calmDown answers for the jobs of which nothing can start any more, and asks the workers of the others.
func (n *Node) calmDown(now grid.Time, fx *grid.Effects) {
	next, first := grid.Never, len(fx.Sends)
	n.calms.jobs = slices.DeleteFunc(n.calms.jobs, func(j *job) bool {
		c := j.calm
		if now >= c.until || c.left == 0 && now >= j.quiet {
			n.reply(&c.callers, j.id, fx)
			j.calm = nil
			n.filing = append(n.filing, j)
			return true
		}
		next = min(next, c.until)
		if c.left == 0 {
			next = min(next, j.quiet)
			return false
		}
		if again := c.asked.Add(n.cfg.Lease / 6); c.asked == 0 || now >= again {
			c.asked = now
			c.ask(first, fx)
		}
		next = min(next, c.asked.Add(n.cfg.Lease/6))
		return false
	})
	if next < grid.Never && (n.calms.wake <= now || next < n.calms.wake) {
		n.calms.wake = next
		fx.Wake(next, grid.TimerGuard, calmKey)
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

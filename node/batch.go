package node

import (
	"skep/balance"
	"skep/grid"
)

// Batch policies assign many tasks of a job at once. One task polls for all: its answers place every task not yet
// tried, up to the node's window. Younger tasks wait for the answers, and the next round starts when half of the
// window is free, so that rounds stay large. A task that is placed again polls for itself, since it may exclude
// nodes, and takes other tasks along where it can.

// fetchTime returns the time that a remote node needs to fetch the job's inputs, in seconds. It does not know which
// of them the node has cached.
func (c *coordinator) fetchTime(spec *grid.JobSpec) float64 {
	if !(c.cfg.Balance.Bandwidth > 0) {
		return 0
	}
	size := 0.0
	for i := range spec.Inputs {
		size += float64(spec.Inputs[i].Size)
	}
	return size / c.cfg.Balance.Bandwidth
}

// awaitsBatch reports whether the job's untried tasks wait for a batch poll.
func (c *coordinator) awaitsBatch(j *job) bool {
	_, many := c.policyOf(j).(balance.Batch)
	return many && (j.batchPoll != nil || j.spec.Count > 1 && 2*c.live.inFlight > c.cfg.Window)
}

// assignBatch places a task, and other tasks of its job, with the task's answers. It reports false if the policy is
// no batch policy or has no node for the task. A node on probation gets no further task.
func (c *coordinator) assignBatch(now grid.Time, l *liveTask, p balance.Policy, fx *grid.Effects) bool {
	b, many := p.(balance.Batch)
	if !many {
		return false
	}
	j := l.job
	group, tasks := append(c.scratch.group[:0], l), append(c.scratch.tasks[:0], &l.request)
	for i := j.nextFresh; i < j.spec.Count && c.live.inFlight+len(group) < c.cfg.Window; i++ {
		if t := j.at(i); t.state == grid.Pending && t.live == nil {
			x := c.newLiveTask(j, i)
			x.request.ID = x.id()
			group, tasks = append(group, x), append(tasks, &x.request)
		}
	}
	c.scratch.group, c.scratch.tasks = group, tasks
	choices := b.Assign(now, tasks, l.answers, c.scratch.choices[:0])
	c.scratch.choices = choices
	placed := choices[0].Act == balance.Place
	for k, x := range group {
		switch {
		case placed && choices[k].Act == balance.Place && (x == l || c.mayTakeMore(now, choices[k].Node)):
			c.offerUsing(now, x, l, choices[k], fx)
		case x != l:
			c.live.drop(x) // as if it had never been tried
			j.task(x.index).live = nil
		}
	}
	if placed {
		c.recycleAnswers(l)
	}
	clear(group)
	clear(tasks)
	return placed
}

// mayTakeMore reports whether a node may get another task now: it is known and not on probation.
func (c *coordinator) mayTakeMore(now grid.Time, id grid.NodeID) bool {
	q := c.peers.get(id)
	return id == c.cfg.Self || q != nil && !c.records.Of(id).OnProbation(now, grid.MilliCPU(q.cores))
}

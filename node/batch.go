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
func (n *Node) fetchTime(spec *grid.JobSpec) float64 {
	if !(n.cfg.Balance.Bandwidth > 0) {
		return 0
	}
	size := 0.0
	for i := range spec.Inputs {
		size += float64(spec.Inputs[i].Size)
	}
	return size / n.cfg.Balance.Bandwidth
}

// awaitsBatch reports whether the job's untried tasks wait for a batch poll.
func (n *Node) awaitsBatch(j *job) bool {
	_, many := n.policyOf(j).(balance.Batch)
	return many && (j.batchPoll != nil || j.spec.Count > 1 && 2*n.inFlight > n.cfg.Window)
}

// assignBatch places a task, and other tasks of its job, with the task's answers. It reports false if the policy is
// no batch policy or has no node for the task. A node on probation gets no further task.
func (n *Node) assignBatch(now grid.Time, l *liveTask, p balance.Policy, fx *grid.Effects) bool {
	b, many := p.(balance.Batch)
	if !many {
		return false
	}
	j := l.job
	group, tasks := append(n.scratch.group[:0], l), append(n.scratch.tasks[:0], &l.request)
	for i := j.nextFresh; i < j.spec.Count && n.inFlight+len(group) < n.cfg.Window; i++ {
		if t := j.at(i); t.state == grid.Pending && t.live == nil {
			x := n.newLiveTask(j, i)
			x.request.ID = x.id()
			group, tasks = append(group, x), append(tasks, &x.request)
		}
	}
	n.scratch.group, n.scratch.tasks = group, tasks
	choices := b.Assign(now, tasks, l.answers, n.scratch.choices[:0])
	n.scratch.choices = choices
	placed := choices[0].Act == balance.Place
	for k, x := range group {
		switch {
		case placed && choices[k].Act == balance.Place && (x == l || n.mayTakeMore(now, choices[k].Node)):
			n.offerUsing(now, x, l, choices[k], fx)
		case x != l:
			n.live.Drop(x.handle) // as if it had never been tried
			j.task(x.index).live = nil
		}
	}
	if placed {
		n.recycleAnswers(l)
	}
	clear(group)
	clear(tasks)
	return placed
}

// mayTakeMore reports whether a node may get another task now: it is known and not on probation.
func (n *Node) mayTakeMore(now grid.Time, id grid.NodeID) bool {
	q := n.peers.get(id)
	return id == n.cfg.Self || q != nil && !n.records.Of(id).OnProbation(now, grid.MilliCPU(q.cores))
}

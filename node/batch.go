package node

import (
	"skep/balance"
	"skep/grid"
)

// A job whose policy places many tasks at once has one of them ask for all: those that nobody has looked at yet
// are placed by the same answers, as many as the window has room for. Until the answers are there nothing younger
// begins, and a next round begins when half of the window is free, so that rounds stay large. A task that is placed
// again asks for itself, since it may have nodes to keep away from, and takes others with it where it can.

// fetchTime is how long another node is taken to need for a job's inputs, seconds. Which of them it has already is
// not known.
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

// awaitsBatch reports whether the fresh tasks of a job have to wait for a round of questions.
func (n *Node) awaitsBatch(j *job) bool {
	_, many := n.policyOf(j).(balance.Batch)
	return many && (j.batchPoll != nil || j.spec.Count > 1 && 2*n.inFlight > n.cfg.Window)
}

// assignBatch places a task, and others of its job by the answers that it has, where the policy places many at once; false
// where it does not, or has no node for the task. A node that has to deliver first gets no more than by itself.
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
			n.live.drop(x.handle) // as if it had not been looked at
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

// mayTakeMore reports whether a node may get another task now.
func (n *Node) mayTakeMore(now grid.Time, id grid.NodeID) bool {
	q := n.peers.get(id)
	return id == n.cfg.Self || q != nil && !n.recordOf(id).onProbation(now, grid.MilliCPU(q.cores))
}

package coordinator

import (
	"slices"

	"skep/balance"
	"skep/exec"
	"skep/grid"
	"skep/node/coordinator/live"
	"skep/node/peers"
	"skep/node/turns"
)

// When backup attempts start: for idempotent jobs whose policy makes copies, once no task of the job waits for its
// first placement. A scan runs when an event makes it due; the oldest tasks come first.

// backupJobs are the jobs that may get backup attempts: all their tasks were placed.
type backupJobs struct {
	due       bool        // an event since the last scan may allow a backup
	justFreed grid.NodeID // the node that delivered a result in this step
	jobs      []*job
}

// considersBackups reports whether tasks of the job may get backup attempts: by its policy, or by its reliability,
// which precedes it.
func (c *Coordinator) considersBackups(j *job) bool {
	return j.spec.Idempotent && j.spec.Rules.Reliability != grid.ReliabilityRetries || c.backupPolicy(j) != nil
}

// backupPolicy returns the job's policy if it may make backup attempts for the job, else nil.
func (c *Coordinator) backupPolicy(j *job) balance.Copier {
	if !j.spec.Idempotent || j.spec.Retries == 0 {
		return nil
	}
	if p, ok := c.policyOf(j).(balance.Copier); ok && p.Copies() > 1 {
		return p
	}
	return nil
}

// awaitsIdleNode reports whether the job's policy keeps tasks until a node is idle. Then one task polls for all.
func (c *Coordinator) awaitsIdleNode(j *job) bool {
	_, ok := c.policyOf(j).(balance.Copier)
	return ok
}

// allPlaced records that every task of a job was placed or tried at least once.
func (c *Coordinator) allPlaced(j *job) {
	if c.considersBackups(j) && !slices.Contains(c.backups.jobs, j) {
		c.backups.jobs = append(c.backups.jobs, j)
		c.backups.due = true
	}
}

// StartBackups runs a scan if one is due, and reports whether it has to go on once this node has taken an attempt that
// it was offered: what is free here has changed.
func (c *Coordinator) StartBackups(now grid.Time, fx *grid.Effects) (more bool) {
	if c.backups.due {
		c.backups.due = false
		more = c.scanBackupJobs(now, fx)
	}
	if !more {
		c.backups.justFreed = grid.NodeID{}
	}
	c.backups.due = c.backups.due || more
	return more
}

func (c *Coordinator) scanBackupJobs(now grid.Time, fx *grid.Effects) (more bool) {
	c.backups.jobs = slices.DeleteFunc(c.backups.jobs, func(j *job) bool {
		if c.jobs.Get(j.id) != j || !j.authoritative() || j.tasks.In(grid.Ended) == j.count() {
			return true
		}
		if !more && j.tasks.In(grid.Pending) == 0 && c.mayAct(now, j) {
			more = c.startBackupsOf(now, j, fx)
		}
		return false
	})
	return more
}

// maxBackupMisses ends the scan of a job after this many consecutive tasks without an idle node other than their own.
const maxBackupMisses = 8

// startBackupsOf reports whether it has made an attempt on this node, and stopped there.
func (c *Coordinator) startBackupsOf(now grid.Time, j *job, fx *grid.Effects) (here bool) {
	for j.backupFrom < j.spec.Count && j.tasks.State(j.backupFrom) == grid.Ended {
		j.backupFrom++
	}
	c.peers.Inform(now)
	c.peers.UpdateColumns(now)
	misses := 0
	for i := j.backupFrom; i < j.spec.Count && misses < maxBackupMisses && !j.isFull(0); i++ {
		l := j.at(i).Live
		if l == nil || l.Phase() != live.Placed || l.backup != nil || l.noBackup || l.result != nil {
			continue
		}
		x, why, missed := c.chooseBackup(now, l)
		if x.Act != balance.Place && !missed {
			continue
		}
		if missed || !j.inTime(now, grid.Seconds(x.ECT)) || !c.affordsAs(now, l, x.Option) {
			misses++
			continue
		}
		misses = 0
		if c.startBackup(now, l, x, why, fx); c.isHere(x.Node) {
			return true
		}
	}
	return false
}

// chooseBackup says at which node a backup attempt of a task begins now, if at any, and why: by the job's reliability,
// or else by its policy, which gives no reason. missed says that nobody is idle for it.
func (c *Coordinator) chooseBackup(now grid.Time, l *liveTask) (x balance.Choice, why string, missed bool) {
	nodes := func() []balance.State { return c.backupNodes(now, l) }
	if l.job.spec.Rules.Reliability != grid.ReliabilityRetries {
		return c.weighCopy(now, l, nodes)
	}
	p := c.backupPolicy(l.job)
	if p == nil {
		return balance.Choice{Act: balance.Wait}, "", true
	}
	l.request.ID = l.id()
	tasks, from := append(c.scratch.tasks[:0], &l.request), nodes()
	choices := p.Assign(now, tasks, from, c.scratch.choices[:0])
	c.scratch.tasks, c.scratch.choices = tasks, choices
	x = choices[0]
	if k := slices.IndexFunc(from, func(s balance.State) bool { return s.Node == x.Node }); k >= 0 {
		x.Option = from[k].Option
	}
	return x, "", x.Act != balance.Place
}

// backupNodes are the nodes that a backup attempt of a task may go to.
func (c *Coordinator) backupNodes(now grid.Time, l *liveTask) []balance.State {
	l.Polled = l.Polled[:0]
	v, _ := c.candidates(now, l)
	nodes := slices.DeleteFunc(v.Nodes, func(s balance.State) bool { return s.Node == l.task().Worker })
	if k := slices.IndexFunc(nodes, func(s balance.State) bool { return s.Node == c.backups.justFreed }); k >= 0 {
		c.creditDelivered(l, &nodes[k])
	}
	return nodes
}

// creditDelivered subtracts the task that a node delivered in this step from the backlog of its ad, which is older.
func (c *Coordinator) creditDelivered(l *liveTask, s *balance.State) {
	if done := c.peers.Expected(l.level()); !s.Answer {
		s.Ready, s.ECT = max(s.Ready-done, 0), max(s.ECT-done, 0)
	}
}

// Policies that keep tasks for idle nodes assign many tasks of a job at once. One task polls for all: its answers place
// every task not yet tried, up to the node's window. Younger tasks wait for the answers, and the next round starts when
// half of the window is free, so that rounds stay large. A task that is placed again polls for itself, since it may
// exclude nodes, and takes other tasks along where it can. (What heuristics map together: see mapping.)

// awaitsBatch reports whether the job's untried tasks wait for a batch poll.
func (c *Coordinator) awaitsBatch(j *job) bool {
	return c.awaitsIdleNode(j) && (j.live.BatchPoll() != nil || j.spec.Count > 1 && 2*c.live.InFlight() > c.cfg.Window)
}

// assignBatch places a task, and other tasks of its job, with the task's answers. It reports false if the policy is
// not of that kind or has no node for the task. A node on probation gets no further task.
func (c *Coordinator) assignBatch(now grid.Time, l *liveTask, p balance.Policy, fx *grid.Effects) bool {
	b, many := p.(balance.Batch)
	if !many {
		return false
	}
	j := l.job
	group, tasks := append(c.scratch.group[:0], l), append(c.scratch.tasks[:0], &l.request)
	for i := j.nextFresh; i < j.spec.Count && c.live.InFlight()+len(group) < c.cfg.Window &&
		!j.isFull(int32(len(group))); i++ {
		if j.isUntried(i) {
			x := c.newLiveTask(j, i)
			x.request.ID, x.request.Class = x.id(), l.request.Class
			group, tasks = append(group, x), append(tasks, &x.request)
		}
	}
	c.scratch.group, c.scratch.tasks = group, tasks
	choices := b.Assign(now, tasks, peers.Worth(j.spec, l.Answers), c.scratch.choices[:0])
	c.scratch.choices = choices
	placed := choices[0].Act == balance.Place
	for k, x := range group {
		switch {
		case placed && choices[k].Act == balance.Place && (x == l || !c.peers.OnProbation(now, choices[k].Node)):
			if x != l {
				c.countTurns(now, j, 1)
			}
			c.offerUsing(now, x, &l.Poll, peers.Unworth(j.spec, l.Answers, choices[k]), fx)
		case x != l:
			c.live.Drop(x) // as if it had never been tried
			j.tasks.At(x.index).Live = nil
		}
	}
	if placed {
		c.recycleAnswers(l)
	}
	clear(group)
	clear(tasks)
	return placed
}

// forgetBackup removes a task's backup attempt, whose slot is free.
func (c *Coordinator) forgetBackup(l *liveTask) {
	l.backup = nil
	l.job.backups--
	c.slotFreed(l.job, l.index)
}

// setQueueIndex says where in its line a job is; −1 = it has left, and the line may go.
func (j *job) setQueueIndex(i int) {
	if j.queueIndex = i + 1; i < 0 {
		j.line = nil
	}
}

// countTurns counts tasks that are placed for the order of jobs.
func (c *Coordinator) countTurns(now grid.Time, j *job, tasks int) {
	c.queue.turns.Placed(now, turns.Task{Key: c.payer(j).Key(j.id, j.spec, j.level), Time: c.peers.Expected(j.level),
		Cores: float64(tasks) * float64(j.spec.Needs.CPU) / float64(grid.CPU)})
}

// payer is whose use the tasks of a job count as that this node owns.
func (c *Coordinator) payer(j *job) exec.Owner {
	return exec.Owner{Node: c.cfg.Self, Vouched: j.replica.membersVerified}
}

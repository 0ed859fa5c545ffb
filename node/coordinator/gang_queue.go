package coordinator

import (
	"slices"

	"skep/grid"
	"skep/node/checkpoint"
	"skep/node/dependency"
	"skep/node/gangs"
)

// gangQueue is the gangs that this node places. One asks for slots at a time, so that they do not take them from each
// other.
type gangQueue struct {
	rand    *grid.Rand
	chooser gangs.Chooser
	by      map[uint64]*job // by handle; iterated in order of the handles alone
	turn    *job            // whose round is under way; nil = none
	next    []*job          // that wait for their turn
}

// gangOf returns the state of a gang.
func (c *Coordinator) gangOf(j *job) *gangs.Gang {
	if j.gang == nil {
		c.live.lastHandle++
		j.gang = gangs.New(c.live.lastHandle, j.spec.Gang.Ranks)
		if c.queue.gangs.by == nil {
			c.queue.gangs.by = make(map[uint64]*job)
		}
		c.queue.gangs.by[j.gang.Handle] = j
	}
	return j.gang
}

// endTurn lets other gangs ask for slots, if it is this one's turn.
func (c *Coordinator) endTurn(j *job) {
	if q := &c.queue.gangs; q.turn == j {
		next := q.next
		q.turn, q.next = nil, nil
		for _, o := range next {
			c.requeueJob(o)
		}
	}
}

// gangTimer handles what is due of a gang: the end of a pause, or of a wait for workers.
func (c *Coordinator) gangTimer(now grid.Time, handle uint64, fx *grid.Effects) {
	j := c.queue.gangs.by[handle]
	switch {
	case j == nil || now < j.gang.Due:
	case j.gang.Phase() == gangs.Waiting && !j.cancelled:
		c.requeueJob(j)
	case j.gang.Phase() == gangs.Reserving || j.gang.Phase() == gangs.Offered && !j.gang.MayRun():
		c.giveUpGang(now, j, fx)
	}
}

// dropGang forgets a gang that is over, or that this node does not own any more.
func (c *Coordinator) dropGang(now grid.Time, j *job, fx *grid.Effects) {
	if j.gang == nil {
		return
	}
	c.releaseSlots(now, j, fx)
	q := &c.queue.gangs
	q.next = slices.DeleteFunc(q.next, func(o *job) bool { return o == j })
	delete(q.by, j.gang.Handle)
	j.gang = nil
}

// Checkpoints of tasks and gangs (package checkpoint): what is asked of their jobs.

// inputsLeft returns the files that an attempt gets beside the inputs of its job: what other jobs have left, and the
// checkpoint that it begins from.
func (c *Coordinator) inputsLeft(l *liveTask) []grid.File {
	left := dependency.Inputs(l.job.spec, l.job.replica, l.index)
	if from := c.checkpoints.Inputs(l.job.spec, l.id()); len(from) > 0 {
		return slices.Concat(left, from)
	}
	return left
}

// vainLosses returns the losses of a task or gang that count for its back-off: one that got beyond the checkpoint that
// it began from was not lost for a reason of its own, so its earlier losses do not count.
func (c *Coordinator) vainLosses(j *job, i uint32, lost int32) int32 {
	if c.checkpoints.Advanced(j.spec, j.attempt(i)) {
		return 1
	}
	return lost
}

// RestoreCheckpoint restores a checkpoint that is kept here.
func (c *Coordinator) RestoreCheckpoint(r *grid.CheckpointRecord) {
	c.checkpoints.Restore(r, r.ID.Task.Job.Origin)
}

// Checkpointed returns what is known of a job with checkpoints; without a Spec it is not here, or over.
func (c *Coordinator) Checkpointed(id grid.JobID) (x checkpoint.Job) {
	if j := c.jobs.Get(id); j != nil && !j.replica.State().Done && !j.cancelled {
		x = checkpoint.Job{Spec: j.spec, Members: j.members(), Owner: j.ownerKnown(), Leads: j.leads()}
	}
	return x
}

// Runs reports whether an attempt is the current one of its task, which this node, as the owner, has given to a worker.
func (c *Coordinator) Runs(from grid.NodeID, id grid.AttemptID) bool {
	l := c.currentAttempt(from, id)
	return l != nil && l.phase == placed && l.result == nil
}

// Over reports whether a task is never run again: its end is final and committed, or that of a rank of its gang.
func (c *Coordinator) Over(id grid.TaskID) bool {
	j := c.jobs.Get(id.Job)
	if j == nil || id.Index >= j.spec.Count {
		return true
	}
	last := id.Index
	if j.spec.IsGang() {
		last = j.spec.Count - 1
	}
	for i := id.Index; i <= last; i++ {
		if v, committed := j.replica.Value(i); v != nil && committed && !v.Open() {
			return true
		}
	}
	return false
}

// task returns the view of a task with its checkpoints.
func (v Views) task(j *job, i uint32) TaskView {
	t := j.taskView(i)
	if t.State != grid.Ended && (i == 0 || !j.spec.IsGang()) {
		t.Checkpoint = v.c.checkpoints.View(j.spec, t.ID.Task)
	}
	return t
}

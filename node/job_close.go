package node

import (
	"time"

	"skep/grid"
)

// closeDelay is the delay between a job's last end and the notice to its members: meanwhile waiting callers are
// answered, and jobs that end together share a commit.
const closeDelay = 20 * time.Millisecond

// mayClose reports whether this node owns the job and all its tasks have ended and are committed.
func (j *job) mayClose() bool {
	r := j.replica
	cancelled, committed := r.Cancelled()
	return r.IsOwner() && r.Ready() && !r.State().Done && j.uncommitted == 0 && j.counts[grid.Ended] == j.count() && (!cancelled || committed)
}

// closeSole closes a job that this node alone keeps, if it has ended. That is not saved: the ends of all tasks are.
func (c *coordinator) closeSole(j *job, fx *grid.Effects) {
	if j.mayClose() {
		j.replica.Close()
		c.archiveAndTrim(j, fx)
	}
}

// scheduleClose schedules the close of a job whose tasks have all ended.
func (c *coordinator) scheduleClose(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.closing || !j.mayClose() {
		return
	}
	j.replica.closing = true
	if len(c.closing) == 0 {
		fx.Wake(now.Add(closeDelay), grid.TimerRegister, closeKey)
	}
	c.closing = append(c.closing, j)
}

// closeJobs closes the scheduled jobs. The end is on disk here before the members are told.
func (c *coordinator) closeJobs(now grid.Time, fx *grid.Effects) {
	for k, j := range c.closing {
		c.closing[k] = nil
		j.replica.closing = false
		if c.peekJob(j.id) != j || !j.mayClose() {
			continue
		}
		j.replica.Close()
		j.replica.Save(fx)
		j.replica.MarkDirty()
		c.worker.ForgetRegistered(j.id, fx) // attempts from an earlier epoch of this owner, superseded by another's
		c.archiveAndTrim(j, fx)
	}
	c.closing = c.closing[:0]
}

package node

import (
	"time"

	"skep/grid"
)

// closeDelay is how long a job whose every task has ended is left alone before the members are told so: whoever waits for its result is answered
// meanwhile, and jobs that end together share a commit.
const closeDelay = 20 * time.Millisecond

// mayClose reports whether all tasks of a job that this node owns have ended, and all of that is final.
func (j *job) mayClose() bool {
	r := j.replica.reg
	held, final := r.Cancelled()
	return r.IsOwner() && r.Ready() && !r.State().Done && j.uncommitted == 0 && j.counts[grid.Ended] == j.count() && (!held || final)
}

// scheduleClose sees to it that a job whose tasks have all ended comes to its end.
func (n *Node) scheduleClose(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.closing || !j.mayClose() {
		return
	}
	j.replica.closing = true
	if len(n.closing) == 0 {
		fx.Wake(now.Add(closeDelay), grid.TimerRegister, closeKey)
	}
	n.closing = append(n.closing, j)
}

// closeJobs brings jobs to their end. It is on disk here before anybody is told.
func (n *Node) closeJobs(now grid.Time, fx *grid.Effects) {
	for k, j := range n.closing {
		n.closing[k] = nil
		j.replica.closing = false
		if n.peekJob(j.id) != j || !j.mayClose() {
			continue
		}
		j.replica.reg.Close()
		n.saveReplica(j, fx)
		n.markDirty(j)
		n.forgetAttempts(now, j, fx) // what it made as an earlier owner, and another one's attempt was recorded instead
		n.archiveAndTrim(j, fx)
	}
	n.closing = n.closing[:0]
}

package node

import (
	"time"

	"skep/grid"
)

// closeAfter is how long a job whose every task has ended is left alone before the members are told so: whoever waits for its result is answered
// meanwhile, and jobs that end together share a commit.
const closeAfter = 20 * time.Millisecond

// closes reports whether all tasks of a job that this node owns have ended, and all of that is final.
func (j *job) closes() bool {
	r := j.guard.reg
	held, final := r.Cancelled()
	return r.Leads() && r.Ready() && !r.State().Done && j.unsure == 0 && j.counts[grid.Ended] == j.count() && (!held || final)
}

// close sees to it that a job whose tasks have all ended comes to its end.
func (n *Node) close(now grid.Time, j *job, fx *grid.Effects) {
	if j.guard.closing || !j.closes() {
		return
	}
	j.guard.closing = true
	if len(n.closing) == 0 {
		fx.Wake(now.Add(closeAfter), grid.TimerGuard, closeKey)
	}
	n.closing = append(n.closing, j)
}

// conclude brings jobs to their end. It is on disk here before anybody is told.
func (n *Node) conclude(now grid.Time, fx *grid.Effects) {
	for k, j := range n.closing {
		n.closing[k] = nil
		j.guard.closing = false
		if n.look(j.id) != j || !j.closes() {
			continue
		}
		j.guard.reg.Finish()
		n.saveGuard(j, fx)
		n.unsaid(j)
		n.clear(now, j, fx) // what it made as an earlier owner, and another one's attempt was recorded instead
		n.keep(j, fx)
	}
	n.closing = n.closing[:0]
}

package node

import "skep/grid"

// A node that has taken a job over may have to end many of its tasks at once: all that nobody claims, where each is to run at most once, or all
// that have not ended, where the job is cancelled. Who named a hundred thousand tasks has sent nothing for them yet, so they are ended some at
// a time, and only as far as there is room for their entries: see package quota. None of the job is placed before that is done.

// sweepAtOnce is how many tasks end in a step, about a megabyte of records.
const sweepAtOnce = 2000

// sweep is how far this has come.
type sweep struct {
	on   bool
	next uint32 // tasks before it have been looked at
}

// sweepUp begins to end the tasks of a job.
func (n *Node) sweepUp(now grid.Time, j *job, fx *grid.Effects) {
	j.guard.sweep = sweep{on: true}
	n.sweepOn(now, j, fx)
}

// sweepOn goes on with it, and lets the job go on when it is done. Where there is no room it is looked at again with the register.
func (n *Node) sweepOn(now grid.Time, j *job, fx *grid.Effects) {
	s := &j.guard.sweep
	if !s.on || !j.owned() || !j.cancelled && !n.acts(now, j) {
		return
	}
	for done := 0; s.next < j.spec.Count; s.next++ {
		t := j.at(s.next)
		if t.state == grid.Ended || !j.cancelled && t.live != nil {
			continue
		}
		if done == sweepAtOnce {
			n.sweeping = append(n.sweeping, j)
			fx.Wake(now, grid.TimerGuard, sweepKey)
			return
		}
		if n.ledger.AdmitMore(j.id, entryBytes) != "" {
			return
		}
		done++
		if j.cancelled {
			n.end(now, j, s.next, &grid.Result{Cause: grid.Cancelled, Exit: 130, Error: "cancelled"}, fx)
		} else {
			n.lost(now, j, s.next, fx)
		}
	}
	if s.on = false; !j.cancelled {
		n.lineUp(j)
	}
}

// sweepAll goes on with those that have more to do at once.
func (n *Node) sweepAll(now grid.Time, fx *grid.Effects) {
	jobs := n.sweeping
	n.sweeping = nil
	for _, j := range jobs {
		if n.look(j.id) == j {
			n.sweepOn(now, j, fx)
		}
	}
}

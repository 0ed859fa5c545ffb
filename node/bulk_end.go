package node

import "skep/grid"

// A node that has taken a job over may have to end many of its tasks at once: all that nobody claims, where each is to run at most once, or all
// that have not ended, where the job is cancelled. Who named a hundred thousand tasks has sent nothing for them yet, so they are ended some at
// a time, and only as far as there is room for their entries: see package quota. None of the job is placed before that is done.

// bulkEndBatch is how many tasks end in a step, about a megabyte of records.
const bulkEndBatch = 2000

// bulkEnd is how far this has come.
type bulkEnd struct {
	on   bool
	next uint32 // tasks before it have been looked at
}

// startBulkEnd begins to end the tasks of a job.
func (n *Node) startBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	j.replica.bulkEnd = bulkEnd{on: true}
	n.continueBulkEnd(now, j, fx)
}

// continueBulkEnd goes on with it, and lets the job go on when it is done. Where there is no room it is looked at again with the register.
func (n *Node) continueBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	s := &j.replica.bulkEnd
	if !s.on || !j.isOwner() || !j.cancelled && !n.mayAct(now, j) {
		return
	}
	for done := 0; s.next < j.spec.Count; s.next++ {
		t := j.at(s.next)
		if t.state == grid.Ended || !j.cancelled && t.live != nil {
			continue
		}
		if done == bulkEndBatch {
			n.bulkEnds = append(n.bulkEnds, j)
			fx.Wake(now, grid.TimerRegister, bulkEndKey)
			return
		}
		if n.ledger.AdmitMore(j.id, entryBytes) != "" {
			return
		}
		done++
		if j.cancelled {
			n.end(now, j, s.next, &grid.Result{Cause: grid.Cancelled, Exit: 130, Error: "cancelled"}, fx)
		} else {
			n.endAsLost(now, j, s.next, fx)
		}
	}
	if s.on = false; !j.cancelled {
		n.enqueueJob(j)
	}
}

// continueBulkEnds goes on with those that have more to do at once.
func (n *Node) continueBulkEnds(now grid.Time, fx *grid.Effects) {
	jobs := n.bulkEnds
	n.bulkEnds = nil
	for _, j := range jobs {
		if n.peekJob(j.id) == j {
			n.continueBulkEnd(now, j, fx)
		}
	}
}

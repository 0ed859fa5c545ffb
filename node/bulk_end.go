package node

import "skep/grid"

// Ending many tasks after a takeover: all unclaimed tasks of a job that may run at most once, or all unended tasks of
// a cancelled job. A job of 100,000 tasks costs its submitter one small message, so the tasks end in batches, and
// only as far as the quota has room for their entries (package quota). No task of the job is placed before that is
// done.

// bulkEndBatch is the number of tasks that end in one step: about 1 MB of records.
const bulkEndBatch = 2000

// bulkEnd is the progress of a bulk end.
type bulkEnd struct {
	on   bool
	next uint32 // tasks below it are done
}

func (n *Node) startBulkEnd(now grid.Time, j *job, fx *grid.Effects) {
	j.replica.bulkEnd = bulkEnd{on: true}
	n.continueBulkEnd(now, j, fx)
}

// continueBulkEnd ends the next batch, and queues the job for placement when all are done. Without quota it stops;
// the register's timer calls it again.
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

// continueBulkEnds continues the jobs whose next batch is due.
func (n *Node) continueBulkEnds(now grid.Time, fx *grid.Effects) {
	jobs := n.bulkEnds
	n.bulkEnds = nil
	for _, j := range jobs {
		if n.peekJob(j.id) == j {
			n.continueBulkEnd(now, j, fx)
		}
	}
}

package node

import "skep/grid"

// How backup attempts end.

// askWorker asks the worker of a promoted attempt for its result: it may have come while the files of the old primary's
// result were fetched.
func (c *coordinator) askWorker(l *liveTask, fx *grid.Effects) {
	m := fx.About(l.task().worker, grid.KindAsk)
	m.Attempts = append(m.Attempts, l.id())
}

// backupEnded takes the result of a backup attempt and reports whether it ends the task: then the backup becomes the
// primary and the old primary is dropped. While the primary's result waits for its files, this one is ignored; its
// worker repeats it, or is asked for it.
func (c *coordinator) backupEnded(now grid.Time, l *liveTask, from grid.NodeID, id grid.AttemptID, r *grid.Result, fx *grid.Effects) bool {
	t := l.task()
	switch {
	case !r.Succeeded():
		c.releaseAttempt(from, id, t, fx)
		c.failures.Ended(now, l.class(), from, r)
		l.noBackup = l.noBackup || r.Cause != grid.Lost
		c.dropBackup(now, l, refusalOf(r), r.Cause == grid.Lost, fx)
		return false
	case l.result != nil:
		return false
	}
	c.attemptReturned(now, &l.promise, t.worker, false)
	c.dropAttempt(now, l, t.worker, l.id(), fx)
	c.promoteBackup(now, l, fx)
	return true
}

// yieldToBackup promotes the backup attempt after the primary ended without success.
func (c *coordinator) yieldToBackup(now grid.Time, l *liveTask, from grid.NodeID, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	t := l.task()
	c.failures.Ended(now, l.class(), l.task().worker, r)
	c.attemptReturned(now, &l.promise, t.worker, r.Cause != grid.Lost && !r.Cause.Refused())
	if r.Cause == grid.Lost {
		c.countLost(now, l, from, refusalOf(r))
		c.countLostCopy(l, from, refusalOf(r))
	} else {
		c.countFailedNode(l, from, refusalOf(r))
		l.noBackup = true
	}
	c.promoteBackup(now, l, fx)
	c.releaseAttempt(from, id, t, fx)
}

// refusalOf returns the reason for giving up an attempt that ended without success.
func refusalOf(r *grid.Result) grid.Refusal {
	why := grid.WhyFailed
	switch r.Cause {
	case grid.Lost:
		why = grid.WhyLost
	case grid.CannotExecute, grid.NotFound:
		why = grid.WhyProgram
	}
	return grid.Refusal{Why: why, Detail: r.Error}
}

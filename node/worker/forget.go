package worker

import (
	"skep/exec"
	"skep/grid"
)

// How attempts end that are not run to their ends. The driver is told to stop each: it ends the process and removes the
// folder. The resources of one that runs stay taken until its process has ended, of which the driver tells. One that is
// given up in the step that starts it never runs, and its resources are free at once: within a step the driver stops
// before it starts, so that it would start what is stopped, without a record.

// stop ends a running attempt with a result that says why.
func (w *Worker) stop(now grid.Time, a *exec.Work, r *grid.Result, fx *grid.Effects) {
	w.keepResult(now, a.ID, r, endRun(a.ID, fx), fx)
}

// endRun has the driver end an attempt and remove what it keeps of it. It reports whether a process may run that is to
// end: not if this step has started it.
func endRun(id grid.AttemptID, fx *grid.Effects) (runs bool) {
	fx.Stops = append(fx.Stops, grid.Stop{Attempt: id})
	return !fx.CancelStart(id)
}

// Forget drops an attempt: its result is acknowledged, or it is no longer needed.
func (w *Worker) Forget(id grid.AttemptID, fx *grid.Effects) {
	was, ok := w.exec.Forget(id)
	if !ok {
		return
	}
	if id.Task.Job.Origin != w.cfg.Self || w.owners[id.Task.Job] != nil {
		w.released.add(tombstone{id, w.isHearsay(id.Task.Job)})
	}
	w.releaseOwner(id.Task.Job)
	w.progress.Drop(id)
	w.checkpoints.Drop(id)
	w.cfg.Quota.Return(id)
	rec := fx.Save(grid.RecWork)
	rec.Delete, rec.Work.ID = true, id
	rec.Later = was == grid.WorkFinished // after a crash it is sent and acknowledged again
	if !endRun(id, fx) {
		w.exec.Stopped(id)
	}
	w.freed = true
}

// ForgetJob drops all attempts of a job.
func (w *Worker) ForgetJob(id grid.JobID, fx *grid.Effects) {
	for _, a := range w.exec.Of(id, nil) {
		w.Forget(a.ID, fx)
	}
}

// forgetReplicated drops all attempts of a replicated job that is closed: the other nodes that could say so may be
// gone for good.
func (w *Worker) forgetReplicated(id grid.JobID, fx *grid.Effects) {
	if w.owners[id] != nil {
		w.ForgetJob(id, fx)
	}
}

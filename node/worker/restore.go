package worker

import (
	"slices"

	"skep/grid"
	"skep/node/quota"
)

// Restore restores an attempt accepted in an earlier boot. A waiting one waits again; a running one did not survive
// the restart, and its owner is told so, unless what runs here is durable: then Start takes it over. verified says
// whether the job's origin named the members in the record.
func (w *Worker) Restore(r *grid.WorkRecord, verified bool) {
	w.recordOwner(r.ID.Task.Job, r.Members, r.Changes, r.Owner, r.Epoch, verified)
	if from := r.Owner; from != w.cfg.Self && r.ID.Task.Job.Origin != w.cfg.Self {
		if from.IsZero() {
			from = r.ID.Task.Job.Origin
		}
		size := quota.AttemptBytes(r.Spec, r.Places, r.Before)
		if r.Result != nil {
			size += quota.ResultBytes(r.Result)
		}
		w.cfg.Quota.Take(r.ID, quota.PartiesOf(r.ID.Task.Job, from), size)
	}
	o := &grid.Offer{ID: r.ID, Spec: r.Spec, Class: r.Class, Lease: r.Lease, Stays: r.Stays, Asks: r.Asks,
		Inputs: r.Inputs, Places: r.Places, Before: r.Before, Option: r.Option, Assigned: r.Assigned,
		Evidence: r.Evidence}
	switch r.State {
	case grid.WorkQueued:
		w.requeue(o, len(inputsOf(r.Spec, r.ID.Task.Index, r.Inputs)) == 0).Until = -1
	case grid.WorkRunning:
		if w.cfg.Durable && !r.Spec.IsGang() {
			a := w.requeue(o, true)
			a.Until, a.Again = -1, true
			return
		}
		w.exec.ScheduleResend(w.exec.Restore(r.ID, o, lost("the node was restarted while the task ran")), 0)
	case grid.WorkFinished:
		a := w.exec.Restore(r.ID, o, r.Result)
		if a.HandedBack = r.HandedBack; a.HandedBack != nil && a.HandedBack.Why != grid.WhyMoved {
			w.neverRan.add(tombstone{r.ID, w.isHearsay(r.ID.Task.Job)})
		}
		w.exec.ScheduleResend(a, 0)
	}
}

// Start begins to work after all attempts were restored. What runs from before is taken over first. How long the
// others waited before the restart is unknown, and when each gets its start lease: all are expected to start when what
// waits can have been done.
func (w *Worker) Start(now grid.Time) {
	for _, a := range slices.Clone(w.exec.Queue()) {
		if a.Again {
			w.exec.AcceptedAgain(now, a)
			w.exec.Adopt(now, a)
		}
	}
	for _, a := range w.exec.Queue() {
		w.exec.AcceptedAgain(now, a)
		a.Expected = grid.Seconds(w.waitOf(now, a.ID.Task.Job, a.Spec, a.Class))
	}
}

// Resume goes on with what was restored, once the owners of the jobs are known.
func (w *Worker) Resume(now grid.Time, fx *grid.Effects) {
	for _, a := range w.exec.Running() {
		fx.Starts = append(fx.Starts, grid.Start{Attempt: a.ID, Spec: a.Spec, Inputs: a.Inputs(), Again: true})
		w.tellSelf(a, fx)
		w.wakeForBeat(now, a.Lease, fx)
	}
	w.stopOverBound(now, fx)
	for _, a := range w.exec.Queue() {
		if inputs := inputsOf(a.Spec, a.ID.Task.Index, a.Inputs()); len(inputs) > 0 {
			w.fetchInputs(a, inputs, fx)
		}
	}
	w.leasesDue = true
	w.sendDueResults(now, fx)
}

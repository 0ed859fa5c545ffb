package worker

import (
	"time"

	"skep/exec"
	"skep/grid"
	"skep/node/chain"
	"skep/node/quota"
)

// Bounds of a worker. The interval of repeated results doubles from minResultRetry to MaxResultRetry while the owner is
// silent.
const (
	minResultRetry = 2 * time.Second
	MaxResultRetry = 5 * time.Minute
	MaxUnacked     = 20_000 // results kept for owners that do not return; the oldest is dropped first
)

// startReady starts the waiting attempts that fit and may start.
func (w *Worker) startReady(now grid.Time, fx *grid.Effects) {
	w.startFitting(now, grid.AttemptID{}, fx)
}

// startFitting is startReady. If it starts the one that is being accepted, the acceptance says so.
func (w *Worker) startFitting(now grid.Time, accepted grid.AttemptID, fx *grid.Effects) {
	if w.leaving {
		return
	}
	if w.resume(now, w.exec.Draining(), fx); w.exec.Draining() {
		return
	}
	w.fillReserved(now, fx)
	for more := true; more; more = w.startSuspending(now, accepted, fx) {
		for a := w.next(now); a != nil; a = w.next(now) {
			w.start(now, a, accepted, fx)
		}
	}
	w.handOver(now, fx)
	w.resume(now, true, fx)
	w.awaitReallocation(now, accepted, fx)
}

// start has work that the ledger has started run.
func (w *Worker) start(now grid.Time, a *exec.Work, accepted grid.AttemptID, fx *grid.Effects) {
	w.refuted = false
	w.save(a, fx)
	w.passOn(a)
	fx.Starts = append(fx.Starts, grid.Start{Attempt: a.ID, Spec: a.Spec, Inputs: a.Inputs(), Until: a.Until,
		Local: w.localRank(a), Places: a.Places(), Before: a.Before(), Given: givenOf(a), Weight: w.exec.Weight(a)})
	if a.ID != accepted {
		w.tellSelf(a, fx)
	} else if w.own(a.ID.Task.Job) {
		fx.Changed = append(fx.Changed, a.ID.Task)
	}
	w.wakeForBeat(now, a.Lease, fx)
	if w.boundOf(a) != nil {
		w.stopOverBound(now, fx)
	}
}

// givenOf is what this node shows to get the secrets of an attempt; nil = its job has none.
func givenOf(a *exec.Work) *grid.Given {
	if len(a.Spec.Secrets) == 0 {
		return nil
	}
	return &grid.Given{Assigned: a.Assigned(), Evidence: a.Evidence()}
}

// StartFreed starts waiting attempts once all attempts of a step are dropped: the next in the queue may be one of
// those. It reports whether there was anything to do.
func (w *Worker) StartFreed(now grid.Time, fx *grid.Effects) bool {
	if !w.freed {
		return false
	}
	w.freed = false
	w.startReady(now, fx)
	w.news.Changed = true
	return true
}

// InputsFetched handles the end of the fetch of an attempt's inputs; why is empty if they are here. It reports whether
// the attempt waits here.
func (w *Worker) InputsFetched(now grid.Time, id grid.AttemptID, why string, fx *grid.Effects) bool {
	a := w.exec.Get(id)
	if a == nil || a.State != grid.WorkQueued {
		return false
	}
	if why == "" {
		a.Since = now
		w.exec.Ready(id)
		w.startReady(now, fx)
		return true
	}
	why = grid.Clean("inputs did not come: "+why, grid.MaxText)
	w.Ended(now, id, &grid.Result{Cause: grid.Failed, Exit: grid.ExitSkep, Error: why}, fx)
	return true
}

// AttemptEvent takes what the driver has to say of an attempt that this node started.
func (w *Worker) AttemptEvent(now grid.Time, ev *grid.Event, fx *grid.Effects) {
	switch ev.Kind {
	case grid.EvEnded:
		w.Ended(now, ev.Attempt, ev.Result, fx)
	case grid.EvLate:
		w.StartedTooLate(now, ev.Attempt, ev.Err != "", fx)
	case grid.EvProgress:
		w.Progressed(ev.Attempt, ev.Progress, fx)
	case grid.EvCheckpoint:
		if a := w.exec.Get(ev.Attempt); a != nil && a.State == grid.WorkRunning {
			x := *ev.Checkpoint
			x.Shares = grid.ShareOf(a.Places(), ev.Attempt.Task.Index)
			w.checkpoints.Event(ev.Attempt, &x, w.ran(a), w.Owner(ev.Attempt.Task.Job), fx)
		}
	}
}

// Ended handles the end of an attempt of which no process is left. One that was told to stop only frees its slot.
func (w *Worker) Ended(now grid.Time, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	if w.exec.Stopped(id) {
		if a := w.exec.Get(id); a != nil && a.HandedBack != nil {
			w.sendHandBack(now, a, fx)
		}
		w.startReady(now, fx)
		w.news.Changed = true
		return
	}
	w.keepResult(now, id, r, false, fx)
}

// keepResult stores an attempt's result until its owner has it, and sends it. An attempt being stopped keeps its slot
// until its process has ended.
func (w *Worker) keepResult(now grid.Time, id grid.AttemptID, r *grid.Result, stopping bool, fx *grid.Effects) {
	a := w.exec.Get(id)
	if a == nil || a.State == grid.WorkFinished || r == nil {
		return
	}
	if a.State == grid.WorkRunning && r.Waited == 0 && a.Started > a.Accepted {
		copied := *r
		copied.Waited = a.Started.Sub(a.Accepted)
		r = &copied
	}
	r = chain.Attest(w.cfg.Signer, w.cfg.Self, id, a.Assigned(), ranAs(a, r))
	w.progress.Drop(id)
	w.checkpoints.Drop(id)
	occupied := w.occupied(now, a, r)
	if stopping {
		w.exec.FinishStopping(id, r)
	} else {
		w.exec.Finish(id, r)
	}
	w.cfg.Quota.Extend(id, quota.ResultBytes(r))
	w.news.Ended, w.news.Changed = true, true
	if r.Succeeded() {
		w.news.Ran = append(w.news.Ran, Ran{a.Level(), occupied, occupied * a.Spec.Speedup(), r.Wall.Seconds()})
	}
	if !w.own(id.Task.Job) || a.Spec.IsGang() { // else the owner's record holds it; a gang's holds none until all have one
		w.save(a, fx).Later = true // after a crash before the write it is a lost attempt, as after one a moment earlier
	}
	w.sendResult(now, a, fx)
	w.boundUnacked(fx)
	w.passOn(a)
	w.startReady(now, fx)
}

// boundUnacked drops the oldest unacknowledged end when there are too many.
func (w *Worker) boundUnacked(fx *grid.Effects) {
	if f := w.exec.Finished(); len(f) > MaxUnacked {
		w.Forget(f[0].ID, fx)
	}
}

// sendResult sends a result, or that the attempt is handed back, and sets when it is due again.
func (w *Worker) sendResult(now grid.Time, a *exec.Work, fx *grid.Effects) {
	if a.HandedBack != nil {
		w.sendHandBack(now, a, fx)
		return
	}
	m := fx.Send(w.Owner(a.ID.Task.Job), grid.KindResult)
	m.Attempts, m.Result = append(m.Attempts, a.ID), a.Result
	w.scheduleResend(now, a)
}

// scheduleResend sets when what was sent now is due again.
func (w *Worker) scheduleResend(now grid.Time, a *exec.Work) {
	w.exec.ScheduleResend(a, now.Add(min(minResultRetry<<min(a.Tries, 10), MaxResultRetry)))
	a.Tries++
}

// sendDueResults repeats the due results.
func (w *Worker) sendDueResults(now grid.Time, fx *grid.Effects) {
	for a := w.exec.NextResend(); a != nil && a.Due <= now; a = w.exec.NextResend() {
		w.sendResult(now, a, fx)
	}
	if now >= w.resultWake {
		w.resultWake = 0
	}
}

func (w *Worker) save(a *exec.Work, fx *grid.Effects) *grid.Record {
	rec := fx.Save(grid.RecWork)
	rec.Work = grid.WorkRecord{ID: a.ID, Spec: a.Submitted(), Class: a.Class, Lease: a.Lease, State: a.State,
		Result: a.Result, Stays: a.Stays, Asks: a.Asks, HandedBack: a.HandedBack, Inputs: a.Inputs(), Places: a.Places(),
		Before: a.Before(), Option: a.Spec.Needs.Chosen, Assigned: a.Assigned(),
		Evidence: a.Evidence()}
	if owner := w.owners[a.ID.Task.Job]; owner != nil {
		rec.Work.Members, rec.Work.Owner, rec.Work.Epoch = owner.members, owner.owner, owner.epoch
		rec.Work.Changes = owner.changes
	}
	return rec
}

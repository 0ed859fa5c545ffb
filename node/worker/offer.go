package worker

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
	"skep/node/quota"
)

const (
	minLease   = 500 * time.Millisecond
	maxTaskAge = 1000 * time.Hour // stated by the owner
)

// Verdict is what is to be done about an offer.
type Verdict uint8

const (
	Ignored  Verdict = iota // it gets no answer
	Answered                // accepted or refused before: the first answer was lost
	Fresh                   // it is accepted, unless something stands against it
)

// Consider checks an offer: who may make it, and whether it came before. If it is to be answered, Reply does so. The
// offer names a specification, and a task of the job.
func (w *Worker) Consider(from grid.NodeID, o *grid.Offer, reg *grid.KnownRegister, fx *grid.Effects) (v Verdict,
	why grid.Refusal) {
	if !w.mayOffer(from, o, reg, fx) {
		w.counts.stale++
		w.refuseContradiction(from, o, fx)
		return Ignored, grid.Refusal{}
	}
	foreign := from != o.ID.Task.Job.Origin // then a tombstone may rest on hearsay
	if w.neverRan.contains(o.ID, foreign) {
		return Answered, w.refusedEarlier()
	}
	if w.released.contains(o.ID, foreign) && from != w.cfg.Self { // its own offer is never late
		w.counts.stale++
		return Ignored, grid.Refusal{}
	}
	o.Lease, o.Age = min(max(o.Lease, minLease), time.Hour), min(max(o.Age, 0), maxTaskAge)
	if a := w.exec.Get(o.ID); a != nil && a.HandedBack != nil && a.HandedBack.Why == grid.WhyMoved {
		return Ignored, grid.Refusal{} // the offer is late, and its owner hears that it was given up
	} else if a != nil && a.HandedBack != nil {
		return Answered, w.refusedEarlier()
	} else if a != nil {
		return Answered, grid.Refusal{}
	}
	return Fresh, grid.Refusal{}
}

// Refuses returns why a new attempt is refused whatever its owner is; WhyNone if it is not.
func (w *Worker) Refuses(id grid.JobID, need grid.Resources) grid.Why {
	if w.cfg.Private && id.Origin != w.cfg.Self {
		return grid.WhyPrivate
	}
	return w.exec.Refuses(need)
}

// Reply answers an offer that was considered: it is accepted if why is empty.
func (w *Worker) Reply(now grid.Time, from grid.NodeID, o *grid.Offer, v Verdict, why grid.Refusal, verified bool,
	fx *grid.Effects) {
	kind := grid.KindAccept
	switch {
	case why.Why != grid.WhyNone:
		kind = grid.KindRefuse
		w.neverRan.add(tombstone{o.ID, from != o.ID.Task.Job.Origin && !verified})
	case v == Fresh:
		w.supersede(o.ID, fx)
		w.followOwner(now, o.ID.Task.Job, from, o.ID.Epoch, fx) // the offer may be the first message of a new owner
		if from != w.cfg.Self {
			w.cfg.Quota.Take(o.ID, quota.PartiesOf(o.ID.Task.Job, from), quota.AttemptBytes(o.Spec, o.Places, o.Before))
		}
		w.accept(now, from, o, verified, fx)
	}
	m := fx.Send(from, kind)
	m.Attempts = append(m.Attempts, o.ID)
	m.Refusal = why
	if a := w.exec.Get(o.ID); a != nil && kind == grid.KindAccept {
		m.Started = a.State == grid.WorkRunning
	}
	// without a valid start lease the repeated offer may be long out of date
	if a := w.exec.Get(o.ID); a != nil && a.State == grid.WorkQueued && a.Until <= now {
		w.requestStartLease(now, a, from, fx)
	}
}

// accept queues an attempt. Its record is on disk before the acceptance leaves.
func (w *Worker) accept(now grid.Time, from grid.NodeID, o *grid.Offer, verified bool, fx *grid.Effects) {
	w.recordOwner(o.ID.Task.Job, o.Members, o.Changes, from, o.ID.Epoch, verified)
	expected := w.waitOf(now, o.ID.Task.Job, o.Spec.AsOption(o.Option), o.Class)
	inputs := inputsOf(o.Spec, o.ID.Task.Index, o.Inputs)
	a := w.queue(now, o, len(inputs) == 0)
	a.Expected = grid.Seconds(expected)
	if a.Until = -1; w.isOwnStamp(now, o.Stamp) {
		a.Until = stampTime(o.Stamp).Add(a.Lease)
	}
	w.save(a, fx)
	if len(inputs) > 0 {
		w.fetchInputs(a, inputs, fx)
	}
	w.startFitting(now, o.ID, fx)
	w.news.Changed = true
	if from != w.cfg.Self {
		w.wakeForBeat(now, a.Lease, fx)
	}
}

// inputsOf are the inputs of a task: those of its job, and those that other jobs have left.
func inputsOf(s *grid.JobSpec, task uint32, left []grid.File) []grid.File {
	own := s.InputsOf(task)
	if len(left) == 0 {
		return own
	}
	return slices.Concat(own, left)
}

// fetchInputs asks for an attempt's inputs: at its job's owner, at the other members of its register, and at those of
// the jobs that have left them.
func (w *Worker) fetchInputs(a *exec.Work, inputs []grid.File, fx *grid.Effects) {
	job := a.ID.Task.Job
	others := w.membersOf(job)
	if len(a.Inputs()) > 0 {
		others = slices.Clone(others)
		for k := range a.Spec.After.Jobs {
			d := &a.Spec.After.Jobs[k]
			others = append(append(others, d.Job.Origin), d.Members...)
		}
	}
	fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: a.ID, From: w.Owner(job), Others: others, Files: inputs})
}

// refusedEarlier is the reason for a repeated offer of an attempt that was refused or handed back before: the task has
// been placed elsewhere since, or will be, so this attempt must not start.
func (w *Worker) refusedEarlier() grid.Refusal {
	if w.exec.Draining() {
		return grid.Refusal{Why: grid.WhyDrain}
	}
	return grid.Refusal{Why: grid.WhyStale}
}

// supersede drops older attempts of the same task: the owner has given them up.
func (w *Worker) supersede(id grid.AttemptID, fx *grid.Effects) {
	if id.Epoch > 1 {
		w.dropOldEpochs(id, fx)
	}
	for older := id; older.N > 1; {
		older.N--
		if w.exec.Get(older) != nil {
			w.Forget(older, fx)
			return
		}
		if id.N-older.N > 8 {
			return
		}
	}
}

// dropOldEpochs drops the attempts of a task that an earlier owner made.
func (w *Worker) dropOldEpochs(id grid.AttemptID, fx *grid.Effects) {
	for _, a := range w.exec.Of(id.Task.Job, nil) {
		if a.ID.Task == id.Task && a.ID.Epoch < id.Epoch {
			w.Forget(a.ID, fx)
		}
	}
}

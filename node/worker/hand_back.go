package worker

import (
	"skep/exec"
	"skep/grid"
)

// Attempts that are given back to their owners before they started: the node drains or stops, or an idle node asks for
// them. The owner makes another attempt of the task, so this one must never start, and the owner must learn that it has
// not: else it would count as lost. Both hold over a restart. Such an attempt is kept like a result until its owner has
// acknowledged it.

// maxHandBackTries is how often a hand-back is sent to a connected owner, over a minute; one of an older version does
// not acknowledge it.
const maxHandBackTries = 5

// handBack gives a waiting attempt back. Its record is on disk before its owner hears of it; a job's owner on this node
// loses no message, and saves what follows in the same transaction.
func (w *Worker) handBack(now grid.Time, a *exec.Work, why grid.HandBack, fx *grid.Effects) {
	job := a.ID.Task.Job
	w.neverRan.add(tombstone{a.ID, w.isHearsay(job)})
	a.HandedBack = &why
	if w.own(job) {
		w.refuse(w.cfg.Self, a, fx)
		w.Forget(a.ID, fx)
		return
	}
	w.exec.Finish(a.ID, lost("it was given back before it started")) // which an older version that restores it reports
	w.save(a, fx)
	w.sendHandBack(now, a, fx)
	w.boundUnacked(fx)
	w.freed = true
}

// sendHandBack tells an attempt's owner that it is handed back or, while that is disconnected, the other members of the
// job's register: one of them is the next owner or knows it.
func (w *Worker) sendHandBack(now grid.Time, a *exec.Work, fx *grid.Effects) {
	job := a.ID.Task.Job
	to := w.Owner(job)
	if w.vacates(a) {
		return // it is told when nothing of it runs
	}
	if w.cfg.Contacts.Connected(to) {
		if a.Tries < maxHandBackTries {
			w.refuse(to, a, fx)
		}
		if a.Tries >= maxHandBackTries || to == w.cfg.Self {
			w.Forget(a.ID, fx)
			return
		}
	} else {
		w.dialOnce(now, to, fx) // it is told once it is connected
		for _, id := range w.membersOf(job) {
			if id != w.cfg.Self && w.cfg.Contacts.Connected(id) {
				w.refuse(id, a, fx)
			}
		}
	}
	w.scheduleResend(now, a)
}

// refuse tells a node that an attempt is handed back.
func (w *Worker) refuse(to grid.NodeID, a *exec.Work, fx *grid.Effects) {
	m := fx.Send(to, grid.KindRefuse)
	m.Attempts = append(m.Attempts, a.ID)
	m.Refusal, m.Puller = grid.Refusal{Why: a.HandedBack.Why}, a.HandedBack.Puller
}

// lost is the result of an attempt that this node does not run to its end.
func lost(why string) *grid.Result {
	return &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Error: why}
}

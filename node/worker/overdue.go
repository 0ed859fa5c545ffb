package worker

import (
	"time"

	"skep/exec"
	"skep/grid"
)

// maxHandedBack bounds the attempts handed back at once; the rest follows at the next check.
const maxHandedBack = 64

// wakeOverdue sets the timer for the next check of overdue work. A node with an empty queue has no such timer.
func (w *Worker) wakeOverdue(now grid.Time, fx *grid.Effects) {
	if w.cfg.Overdue > 0 && !w.overdueWake && len(w.exec.Queue()) > 0 {
		w.overdueWake = true
		fx.Wake(now.Add(w.cfg.Overdue), grid.TimerOverdue, 0)
	}
}

// ReturnOverdue hands work that has waited here far longer than expected back to its owner, as much of it as another node
// has room for: the estimate that placed it here was wrong. The work never ran, so this is a refusal and not a loss, and
// placing it again is a new attempt. Work without retries stays unless this node is its owner: if the refusal were lost in
// transit, the attempt would count as lost. reserve takes room for a task on an idle node, and reports whether there was.
func (w *Worker) ReturnOverdue(now grid.Time, reserve func(*grid.JobSpec) bool, fx *grid.Effects) {
	w.overdueWake = false
	var late []*exec.Work
	for _, a := range w.exec.Queue() {
		if len(late) == maxHandedBack {
			break
		}
		waited := now.Sub(a.Accepted)
		if waited >= max(w.cfg.Overdue, 2*min(a.Expected, time.Hour)) && (w.own(a.ID.Task.Job) || a.Spec.Retries > 0) {
			late = append(late, a)
		}
	}
	for _, a := range late {
		if reserve(a.Spec) {
			w.handBack(a, grid.Refusal{Why: grid.WhyOverdue}, fx)
		}
	}
	w.wakeOverdue(now, fx)
}

// handBack drops a waiting attempt and tells its owner why, by the message that it returns.
func (w *Worker) handBack(a *exec.Work, why grid.Refusal, fx *grid.Effects) *grid.Message {
	id := a.ID
	to, stone := w.Owner(id.Task.Job), tombstone{id, w.isHearsay(id.Task.Job)}
	w.Forget(id, fx)
	w.neverRan.add(stone)
	m := fx.Send(to, grid.KindRefuse)
	m.Attempts, m.Refusal = append(m.Attempts, id), why
	return m
}

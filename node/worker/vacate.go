package worker

import (
	"time"

	"skep/exec"
	"skep/grid"
)

// Attempts that have started and are given up, so that their tasks go on at another node from a checkpoint. The owner
// asks for it. The attempt is kept like a hand-back: that it is given up is on disk at once, its process is told to
// end, and the owner hears of it when nothing of it runs any more. So no next attempt begins before; over a restart
// too, which no process survives. Until then beats go on, or the owner would count it as lost.

// minMovable is for how long an attempt has run at least before it is given up: the driver may be yet to start it.
const minMovable = time.Second

// movable says how an attempt stands that this node gives up when its owner asks; nil = it does not. It must be able to
// go on from a checkpoint: of its own, or the one that it began from.
func (w *Worker) movable(a *exec.Work) *grid.Movable {
	if !w.mayMove(a) {
		return nil
	}
	kept, some := w.checkpoints.Kept(a.ID)
	if _, from := grid.SplitInputs(a.Inputs()); !some && len(from) == 0 {
		return nil
	}
	now, key, ran := w.exec.Now(), w.payer(a.ID.Task.Job).Key(a.ID.Task.Job, a.Spec, a.Class), w.ran(a)
	if ran < minMovable {
		return nil
	}
	return &grid.Movable{Ran: ran, Kept: min(kept, ran),
		Wait: min(grid.Seconds(w.exec.Resumes(now, a, key, w.cfg.RunTime)), grid.MaxTimeout)}
}

// mayMove reports whether an attempt is one that this node gives up, once it can go on from a checkpoint.
func (w *Worker) mayMove(a *exec.Work) bool {
	return w.cfg.Order != nil && w.cfg.Order.Moves && a.State == grid.WorkRunning && a.Spec.Retries > 0 && !a.Spec.IsGang()
}

// ran is for how long an attempt has run, alone and at full speed.
func (w *Worker) ran(a *exec.Work) time.Duration {
	return min(grid.Seconds(w.exec.RunTime(w.exec.Now(), a)), grid.MaxTimeout)
}

// Vacate gives an attempt up that its owner wants to go on elsewhere: unless any is meant, only while it is suspended.
// Else the answer is that it is here.
func (w *Worker) Vacate(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if len(m.Attempts) != 1 || w.Owner(m.Attempts[0].Task.Job) != from {
		w.counts.stale++
		return
	}
	a := w.exec.Get(m.Attempts[0])
	switch {
	case a == nil || a.State == grid.WorkFinished:
		w.Asked(now, from, m.Attempts, fx)
	case w.movable(a) == nil || !m.Started && !w.exec.Suspended(a):
		w.beat(from, a, fx)
	default:
		w.vacate(a, fx)
	}
}

func (w *Worker) vacate(a *exec.Work, fx *grid.Effects) {
	a.HandedBack = &grid.HandBack{Why: grid.WhyMoved}
	fx.Stops = append(fx.Stops, grid.Stop{Attempt: a.ID})
	w.progress.Drop(a.ID)
	w.checkpoints.Drop(a.ID)
	w.exec.FinishStopping(a.ID, lost("it was given up, to go on at another node")) // for an older version that restores it
	w.save(a, fx)
	w.boundUnacked(fx)
	w.counts.vacated++
	w.freed, w.news.Ended, w.news.Changed = true, true, true
}

// vacates reports whether an attempt is given up of which something runs still.
func (w *Worker) vacates(a *exec.Work) bool { return a.HandedBack != nil && w.exec.IsStopping(a.ID) }

// isHandedBack reports whether an attempt is handed back of which nothing runs: other nodes may hear of it.
func (w *Worker) isHandedBack(a *exec.Work) bool { return a.HandedBack != nil && !w.vacates(a) }

// Vacated is how many attempts were given up so since the start.
func (w *Worker) Vacated() uint64 { return w.counts.vacated }

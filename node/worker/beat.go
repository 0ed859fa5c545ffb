package worker

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// sendBeats sends each owner its attempts that this node holds, and schedules the next beat a third of the shortest
// attempt lease later. Of this node's own attempts only those need it that wait, are suspended or may move.
func (w *Worker) sendBeats(now grid.Time, fx *grid.Effects) {
	lease := time.Duration(0)
	w.dropUnleased(now, fx)
	w.informClaimants(now, fx)
	w.exec.Places(now, w.cfg.RunTime, grid.MaxPlace)
	for _, list := range [...][]*exec.Work{w.exec.Queue(), w.exec.Running(), w.exec.Finished()} {
		for _, a := range list {
			to, queued := w.Owner(a.ID.Task.Job), a.State == grid.WorkQueued
			if queued && isUnleased(now, a) && w.exec.MakeDormant(a) {
				w.freed = true
			}
			if to == w.cfg.Self && !queued && !w.beatsHere(a) || a.Tries > 8 || a.HandedBack != nil && !w.vacates(a) {
				if a.State == grid.WorkRunning { // the timer shows whether this node was stopped: see stops
					lease = shorter(lease, a.Lease)
				}
				continue
			}
			if !w.cfg.Contacts.Connected(to) {
				if rec := w.owners[a.ID.Task.Job]; rec != nil {
					w.beatMembers(now, rec, a, fx)
					lease = max(lease, a.Lease)
				} else if queued {
					lease = max(lease, a.Lease)
				}
				if queued {
					w.dialOnce(now, to, fx)
				}
				continue
			}
			lease = shorter(lease, a.Lease)
			if queued {
				w.requestInOrder(now, a, to, fx)
				continue
			}
			w.beat(to, a, fx)
			if to != w.cfg.Self {
				w.checkpoints.Report(a.ID, to, fx)
			}
		}
	}
	w.wakeForBeat(now, lease, fx)
}

// shorter returns the shorter of two leases, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// beatsHere reports whether an attempt that has started gets beats also where its owner runs it: whether it is to move
// is weighed with each, and the time for which it is suspended counts until the last.
func (w *Worker) beatsHere(a *exec.Work) bool { return w.mayMove(a) || w.exec.Suspended(a) }

// CheckpointAnswered takes what an owner says of the checkpoints of an attempt here.
func (w *Worker) CheckpointAnswered(from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if len(m.Attempts) != 1 || w.Owner(m.Attempts[0].Task.Job) != from {
		w.counts.stale++
		return
	}
	w.checkpoints.Answered(from, m.Attempts[0], m.Checkpoint, fx)
}

// beat tells a node that an attempt is here, whether it has started, and what it has said of its progress.
func (w *Worker) beat(to grid.NodeID, a *exec.Work, fx *grid.Effects) {
	w.progress.AddBeat(fx.About(to, grid.KindBeat), a.ID, grid.Report{Queued: a.State == grid.WorkQueued,
		Suspended: w.exec.Suspended(a), Suspensions: w.exec.SuspensionsOf(a), Movable: w.movable(a)})
}

// Progressed takes what an attempt here says of its progress. The next beat tells its owner, this node at once.
func (w *Worker) Progressed(id grid.AttemptID, p *grid.Progress, fx *grid.Effects) {
	a := w.exec.Get(id)
	if a == nil || a.State != grid.WorkRunning || p == nil {
		return
	}
	w.progress.Put(id, p)
	if w.own(id.Task.Job) {
		w.beat(w.cfg.Self, a, fx)
	}
}

// beatMembers sends a beat to the other members of the job's register: the owner is disconnected, and one of them is
// the next owner or knows it.
func (w *Worker) beatMembers(now grid.Time, rec *ownerRecord, a *exec.Work, fx *grid.Effects) {
	for _, id := range rec.members {
		if id == rec.owner || id == w.cfg.Self {
			continue
		}
		if w.cfg.Contacts.Connected(id) {
			m := fx.About(id, grid.KindBeat)
			m.Attempts = append(m.Attempts, a.ID)
		} else if a.State == grid.WorkQueued {
			w.dialOnce(now, id, fx)
		}
	}
}

// dialOnce requests a connection to a node, once in a step.
func (w *Worker) dialOnce(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	if !slices.ContainsFunc(fx.Links, func(l grid.Link) bool { return l.Peer == id }) {
		w.cfg.Contacts.Dial(now, id, fx)
	}
}

func (w *Worker) wakeForBeat(now grid.Time, lease time.Duration, fx *grid.Effects) {
	if lease > 0 && w.stops.due == 0 {
		w.stops.due = now.Add(lease / 3)
		fx.Wake(w.stops.due, grid.TimerBeat, 0)
	}
}

// Asked answers an owner that asks about attempts given to this node.
func (w *Worker) Asked(now grid.Time, from grid.NodeID, ids []grid.AttemptID, fx *grid.Effects) {
	for _, id := range ids {
		if w.Owner(id.Task.Job) != from {
			continue
		}
		a := w.exec.Get(id)
		switch {
		case a == nil:
			hearsay := w.isHearsay(id.Task.Job)
			if !w.released.contains(id, hearsay) {
				w.released.add(tombstone{id, hearsay}) // a late offer of it must not start: the owner goes on without it
			}
			m := fx.Send(from, grid.KindRefuse)
			m.Attempts = append(m.Attempts, id)
			if m.Refusal = (grid.Refusal{Why: grid.WhyLost, Detail: "it does not have the attempt"}); w.neverRan.contains(id,
				hearsay) {
				m.Refusal = w.refusedEarlier()
			}
		case w.vacates(a):
			w.beat(from, a, fx)
		case a.HandedBack != nil:
			w.refuse(from, a, fx)
		case a.State == grid.WorkFinished:
			w.sendResult(now, a, fx)
		default:
			w.beat(from, a, fx)
		}
	}
}

// OwnerConnected repeats the results that an owner may have missed, and hands back what a draining node could not.
func (w *Worker) OwnerConnected(now grid.Time, id grid.NodeID, fx *grid.Effects) {
	for _, a := range w.exec.Finished() {
		if w.Owner(a.ID.Task.Job) == id {
			a.Tries = 0
			w.sendResult(now, a, fx)
		}
	}
	w.sendBeats(now, fx)
	w.HandBackQueue(now, fx)
}

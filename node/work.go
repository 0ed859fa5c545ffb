package node

import (
	"time"

	"skep/exec"
	"skep/grid"
)

// The role of the worker: attempts accepted from other owners, or of this node's own jobs.

// Bounds of a worker. The interval of repeated results doubles from minResultRetry to maxResultRetry while the owner is
// silent.
const (
	minResultRetry = 2 * time.Second
	maxResultRetry = 5 * time.Minute
	minLease       = 500 * time.Millisecond
	maxTaskAge     = 1000 * time.Hour // stated by the owner
	maxUnacked     = 20_000           // results kept for owners that do not return; the oldest is dropped first
)

// answerPoll answers when a task would be done here, and exchanges rates.
func (n *Node) answerPoll(now grid.Time, from grid.NodeID, p *grid.Poll, fx *grid.Effects) {
	q := n.peers.get(from)
	if q == nil {
		return
	}
	n.exchangeRates(q, p.Rates, p.Speed, p.Cores, p.Mine, p.Have)
	n.rates.Publish(now)
	own, version := n.rates.Published()
	m := fx.Send(from, grid.KindState)
	s := &m.State
	ready := n.exec.Wait(now, p.Needs, n.runTime)
	s.ID, s.Why = p.ID, n.exec.Refuses(p.Needs)
	if n.cfg.Private {
		s.Why = grid.WhyPrivate
	}
	s.Backlog, s.ECT = grid.Seconds(ready), grid.Seconds(ready+n.exec.Mean(now, p.Class, n.runTime))
	s.Free, s.Speed, s.Cores = n.exec.Free(), n.cfg.Speed, n.cfg.Capacity.CPU
	s.Mine, s.Have, s.Stamp = version, q.theirVersion, n.leaseStamp(now)
	ran, rest := n.exec.Ahead(now, p.Needs, n.runTime)
	s.Waiting, s.Running, s.Ran, s.Rest = int32(len(n.exec.Queue())), int32(len(n.exec.Running())), grid.Seconds(ran), grid.Seconds(rest)
	if q.ourVersion != version {
		s.Rates = append(s.Rates, own...)
	}
}

// acceptAttempt queues an attempt. Its record is on disk before the acceptance leaves.
func (n *Node) acceptAttempt(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	expected := n.exec.Wait(now, o.Spec.Needs.Resources, n.runTime)
	w := n.exec.Accept(now, o.ID, o, len(o.Spec.Inputs) == 0)
	w.Expected = grid.Seconds(expected)
	if w.Until = -1; n.ownStamp(now, o.Stamp) {
		w.Until = stampTime(o.Stamp).Add(w.Lease)
	}
	n.recordOwner(o.ID.Task.Job, o.Members, from, o.ID.Epoch, n.membersVerified(o.ID.Task.Job, from))
	n.saveWork(w, fx)
	if len(o.Spec.Inputs) > 0 {
		fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: o.ID, From: n.ownerOf(w.ID.Task.Job), Others: n.membersOf(w.ID.Task.Job), Files: o.Spec.Inputs})
	}
	n.startReady(now, fx)
	n.adChanged(now, fx)
	n.scheduleBeat(now, w, fx)
	n.wakeOverdue(now, fx)
}

// startReady starts the waiting attempts that fit and may start.
func (n *Node) startReady(now grid.Time, fx *grid.Effects) {
	if n.leaving || n.exec.Draining() {
		return
	}
	for w := n.exec.Next(now); w != nil; w = n.exec.Next(now) {
		n.saveWork(w, fx)
		fx.Starts = append(fx.Starts, grid.Start{Attempt: w.ID, Spec: w.Spec, Until: w.Until})
		if n.ownerOf(w.ID.Task.Job) == n.cfg.Self {
			fx.Changed = append(fx.Changed, w.ID.Task)
		}
		if n.boundOf(w) != nil {
			n.stopOverBound(now, fx)
		}
	}
}

// attemptEnded handles the end of an attempt of which no process is left. One that was told to stop only frees its
// slot.
func (n *Node) attemptEnded(now grid.Time, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	if n.exec.Stopped(id) {
		n.startReady(now, fx)
		n.adChanged(now, fx)
		return
	}
	n.keepResult(now, id, r, false, fx)
}

// keepResult stores an attempt's result until its owner has it, learns from it, and sends it. An attempt being stopped
// keeps its slot until its process has ended.
func (n *Node) keepResult(now grid.Time, id grid.AttemptID, r *grid.Result, stopping bool, fx *grid.Effects) {
	w := n.exec.Get(id)
	if w == nil || w.State == grid.WorkFinished || r == nil {
		return
	}
	if w.State == grid.WorkRunning && r.Waited == 0 && w.Started > w.Accepted {
		copied := *r
		copied.Waited = w.Started.Sub(w.Accepted)
		r = &copied
	}
	occupied := n.exec.RunTime(now, w) // for so long the slot was taken, start and collection included
	if stopping {
		n.exec.FinishStopping(id, r)
	} else {
		n.exec.Finish(id, r)
	}
	n.ledger.Extend(id, resultBytes(r))
	n.resumeAwaitingProof()
	if r.Succeeded() {
		n.rates.Ran(now, w.Class, occupied, fx)
	}
	if n.ownerOf(id.Task.Job) != n.cfg.Self { // else the owner's record holds it
		n.saveWork(w, fx).Later = true // after a crash before the write it is a lost attempt, as after one a moment earlier
	}
	n.repeatResult(now, w, fx)
	if f := n.exec.Finished(); len(f) > maxUnacked {
		n.forgetAttempt(now, f[0].ID, fx)
	}
	n.startReady(now, fx)
	n.adChanged(now, fx)
}

// repeatResult sends a result and sets when it is due again.
func (n *Node) repeatResult(now grid.Time, w *exec.Work, fx *grid.Effects) {
	m := fx.Send(n.ownerOf(w.ID.Task.Job), grid.KindResult)
	m.Attempts, m.Result = append(m.Attempts, w.ID), w.Result
	n.exec.ScheduleResend(w, now.Add(min(minResultRetry<<min(w.Tries, 10), maxResultRetry)))
	w.Tries++
}

// setWorkerTimers sets, at the end of a step, the timers for the results that are still here and for the queue's next
// start leases, unless earlier ones are pending.
func (n *Node) setWorkerTimers(now grid.Time, fx *grid.Effects) {
	if w := n.exec.NextResend(); w != nil && (n.resultWake == 0 || w.Due < n.resultWake) {
		n.resultWake = w.Due
		fx.Wake(w.Due, grid.TimerResult, 0)
	}
	if q := n.exec.Queue(); len(q) > 0 {
		n.wakeForBeat(now, q[0].Lease, fx)
	}
}

// sendDueResults repeats the due results.
func (n *Node) sendDueResults(now grid.Time, fx *grid.Effects) {
	for w := n.exec.NextResend(); w != nil && w.Due <= now; w = n.exec.NextResend() {
		n.repeatResult(now, w, fx)
	}
	if now >= n.resultWake {
		n.resultWake = 0
	}
}

// resendResults repeats what an owner that reconnected may have missed.
func (n *Node) resendResults(now grid.Time, origin grid.NodeID, fx *grid.Effects) {
	for _, w := range n.exec.Finished() {
		if n.ownerOf(w.ID.Task.Job) == origin {
			w.Tries = 0
			n.repeatResult(now, w, fx)
		}
	}
	n.sendBeats(now, fx)
}

// forgetAttempt drops an attempt: its result is acknowledged, or no longer needed.
func (n *Node) forgetAttempt(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	was, ok := n.exec.Forget(id)
	if !ok {
		return
	}
	if id.Task.Job.Origin != n.cfg.Self || n.ownerRecords[id.Task.Job] != nil {
		n.released.add(tombstone{id, n.isHearsay(id.Task.Job)})
	}
	n.releaseOwner(id.Task.Job)
	n.ledger.Return(id)
	rec := fx.Save(grid.RecWork)
	rec.Delete, rec.Work.ID = true, id
	rec.Later = was == grid.WorkFinished // after a crash it is sent and acknowledged again
	fx.Stops = append(fx.Stops, grid.Stop{Attempt: id})
	n.freed = true
}

func (n *Node) saveWork(w *exec.Work, fx *grid.Effects) *grid.Record {
	rec := fx.Save(grid.RecWork)
	rec.Work = grid.WorkRecord{ID: w.ID, Spec: w.Spec, Class: w.Class, Lease: w.Lease, State: w.State, Result: w.Result}
	if owner := n.ownerRecords[w.ID.Task.Job]; owner != nil {
		rec.Work.Members, rec.Work.Owner, rec.Work.Epoch = owner.members, owner.owner, owner.epoch
	}
	return rec
}

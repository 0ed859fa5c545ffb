package node

import (
	"time"

	"skep/exec"
	"skep/grid"
)

// The worker's part: attempts accepted from others, or from this node's own jobs.

// Times of telling results again: doubled from the first to the longest while the origin is silent.
const (
	firstTelling = 2 * time.Second
	lastTelling  = 5 * time.Minute
	minLease     = 500 * time.Millisecond
	maxAge       = 1000 * time.Hour // of a task, as its origin says
	maxUnacked   = 20_000           // results kept for origins that do not come back; the oldest goes first
)

// polled answers how soon a task would be done here, and exchanges rates.
func (n *Node) polled(now grid.Time, from grid.NodeID, p *grid.Poll, fx *grid.Effects) {
	q := n.peers.get(from)
	if q == nil {
		return
	}
	n.exchange(q, p.Rates, p.Speed, p.Cores, p.Mine, p.Have)
	n.rates.publish(now)
	m := fx.Send(from, grid.KindState)
	s := &m.State
	ready := n.exec.Wait(now, p.Needs, n.rates.here)
	s.ID, s.Why = p.ID, n.exec.Refuses(p.Needs)
	if n.cfg.Private {
		s.Why = grid.WhyPrivate
	}
	s.Backlog, s.ECT = grid.Seconds(ready), grid.Seconds(ready+n.exec.Mean(now, p.Class, n.rates.here))
	s.Free, s.Speed, s.Cores = n.exec.Free(), n.cfg.Speed, n.cfg.Capacity.CPU
	s.Mine, s.Have, s.Stamp = n.rates.version, q.have, n.stamp(now)
	ran, rest := n.exec.Ahead(now, p.Needs, n.rates.here)
	s.Waiting, s.Running, s.Ran, s.Rest = int32(len(n.exec.Queue())), int32(len(n.exec.Running())), grid.Seconds(ran), grid.Seconds(rest)
	if q.told != n.rates.version {
		s.Rates = append(s.Rates, n.rates.own...)
	}
}

// take puts an attempt into the queue. The record is on disk before the acceptance leaves.
func (n *Node) take(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	expected := n.exec.Wait(now, o.Spec.Needs.Resources, n.rates.here)
	w := n.exec.Accept(now, o.ID, o, len(o.Spec.Inputs) == 0)
	w.Expected = grid.Seconds(expected)
	if w.Until = -1; n.stamped(now, o.Stamp) {
		w.Until = asked(o.Stamp).Add(w.Lease)
	}
	n.enlist(o.ID.Task.Job, o.Members, from, o.ID.Epoch, from == n.cfg.Self || n.firsthand(o.ID.Task.Job, from))
	n.saveWork(w, fx)
	if len(o.Spec.Inputs) > 0 {
		fx.Fetches = append(fx.Fetches, grid.Fetch{Attempt: o.ID, From: n.owner(w.ID.Task.Job), Others: n.kin(w.ID.Task.Job), Files: o.Spec.Inputs})
	}
	n.run(now, fx)
	n.changed(now, fx)
	n.wakeBeat(now, w, fx)
	n.wakeOverdue(now, fx)
}

// run starts what may start.
func (n *Node) run(now grid.Time, fx *grid.Effects) {
	if n.leaving || n.exec.Draining() {
		return
	}
	for w := n.exec.Next(now); w != nil; w = n.exec.Next(now) {
		n.saveWork(w, fx)
		fx.Starts = append(fx.Starts, grid.Start{Attempt: w.ID, Spec: w.Spec, Until: n.startBy(w)})
		if n.owner(w.ID.Task.Job) == n.cfg.Self {
			fx.Changed = append(fx.Changed, w.ID.Task)
		}
		if n.boundOf(w) != nil {
			n.outgrown(now, fx)
		}
	}
	works := n.exec.Asleep(n.scratch.works[:0])
	for _, w := range works {
		if j := n.look(w.ID.Task.Job); j != nil && j.guard != nil && j.owned() && n.owner(j.id) == n.cfg.Self {
			n.stall(j)
		}
	}
	n.scratch.works = works
	clear(works)
}

// ended takes the result of an attempt of which nothing runs any more. Of one that was told to stop it is only of account
// that its place is free.
func (n *Node) ended(now grid.Time, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	if n.exec.Stopped(id) {
		n.run(now, fx)
		n.changed(now, fx)
		return
	}
	n.keepResult(now, id, r, false, fx)
}

// keepResult keeps an attempt's result until its origin has it, learns from it, and tells it. One that is being stopped holds its place
// until that has happened.
func (n *Node) keepResult(now grid.Time, id grid.AttemptID, r *grid.Result, stopping bool, fx *grid.Effects) {
	w := n.exec.Get(id)
	if w == nil || w.State == grid.WorkFinished || r == nil {
		return
	}
	if w.State == grid.WorkRunning && r.Waited == 0 && w.Started > w.Accepted {
		kept := *r
		kept.Waited = w.Started.Sub(w.Accepted)
		r = &kept
	}
	held := n.exec.Ran(now, w) // for so long the slot was taken, start and collection included
	if stopping {
		n.exec.Cut(id, r)
	} else {
		n.exec.Finish(id, r)
	}
	n.ledger.Extend(id, weighResult(r))
	n.encourage()
	if r.Succeeded() && n.rates.ran(now, w.Class, held) {
		n.forgetClasses(fx)
		c := n.rates.class(w.Class)
		c.saved = c.seconds
		rec := fx.Save(grid.RecClass)
		rec.Later, rec.Class = true, grid.ClassRecord{Class: c.name, Mean: c.seconds, Count: c.runs, Spread: c.spread, Spreads: c.spreads}
	}
	if n.owner(id.Task.Job) == n.cfg.Self {
		n.resulted(now, n.cfg.Self, id, r, fx)
	} else {
		n.saveWork(w, fx).Later = true // a crash before makes it a lost attempt, as one a moment earlier would
		n.sendResult(now, w, fx)
		if f := n.exec.Finished(); len(f) > maxUnacked {
			n.forget(now, f[0].ID, fx)
		}
	}
	n.run(now, fx)
	n.changed(now, fx)
}

// forgetClasses takes the records of classes that gave way to others off the disk.
func (n *Node) forgetClasses(fx *grid.Effects) {
	for _, name := range n.rates.gone {
		rec := fx.Save(grid.RecClass)
		rec.Delete, rec.Later, rec.Class.Class = true, true, name
	}
	n.rates.gone = n.rates.gone[:0]
}

func (n *Node) sendResult(now grid.Time, w *exec.Work, fx *grid.Effects) {
	n.repeatResult(now, w, fx)
	n.wakeTelling(fx)
}

// repeatResult tells a result and says when that is done again. Whoever calls it sees to a wake.
func (n *Node) repeatResult(now grid.Time, w *exec.Work, fx *grid.Effects) {
	m := fx.Send(n.owner(w.ID.Task.Job), grid.KindResult)
	m.Attempts, m.Result = append(m.Attempts, w.ID), w.Result
	n.exec.Tell(w, now.Add(min(firstTelling<<min(w.Tries, 10), lastTelling)))
	w.Tries++
}

// wakeTelling sees to a wake when the first result is due; there is one under way at sendWake, unless that is 0.
func (n *Node) wakeTelling(fx *grid.Effects) {
	if w := n.exec.Told(); w != nil && (n.sendWake == 0 || w.Due < n.sendWake) {
		n.sendWake = w.Due
		fx.Wake(w.Due, grid.TimerResult, 0)
	}
}

// tell repeats the results that are due. One of this node's own jobs, which a restart interrupted or which it has taken over, is
// only looked at: it stays if a majority has to answer first, and whoever owns the job next is told of it.
func (n *Node) tell(now grid.Time, fx *grid.Effects) {
	for w := n.exec.Told(); w != nil && w.Due <= now; w = n.exec.Told() {
		if n.owner(w.ID.Task.Job) == n.cfg.Self {
			n.exec.Hush(w)
			n.resulted(now, n.cfg.Self, w.ID, w.Result, fx)
			continue
		}
		n.repeatResult(now, w, fx)
	}
	if now >= n.sendWake {
		n.sendWake = 0
	}
	n.wakeTelling(fx)
}

// tellTo repeats what an origin that is connected again may have missed.
func (n *Node) tellTo(now grid.Time, origin grid.NodeID, fx *grid.Effects) {
	for _, w := range n.exec.Finished() {
		if n.owner(w.ID.Task.Job) == origin {
			w.Tries = 0
			n.repeatResult(now, w, fx)
		}
	}
	n.wakeTelling(fx)
	n.beats(now, fx)
}

// forget lets go of an attempt: its result is acknowledged, or nobody wants it any more.
func (n *Node) forget(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	was, ok := n.exec.Forget(id)
	if !ok {
		return
	}
	if id.Task.Job.Origin != n.cfg.Self || n.posts[id.Task.Job] != nil {
		n.past.add(fenced{id, n.hearsay(id.Task.Job)})
	}
	n.dismiss(id.Task.Job)
	n.ledger.Return(id)
	rec := fx.Save(grid.RecWork)
	rec.Delete, rec.Work.ID = true, id
	rec.Later = was == grid.WorkFinished // it is told and acknowledged again
	fx.Stops = append(fx.Stops, grid.Stop{Attempt: id})
	if now > 0 {
		n.freed = true
	}
}

func (n *Node) saveWork(w *exec.Work, fx *grid.Effects) *grid.Record {
	rec := fx.Save(grid.RecWork)
	rec.Work = grid.WorkRecord{ID: w.ID, Spec: w.Spec, Class: w.Class, Lease: w.Lease, State: w.State, Result: w.Result}
	if p := n.posts[w.ID.Task.Job]; p != nil {
		rec.Work.Members, rec.Work.Owner, rec.Work.Epoch = p.members, p.owner, p.epoch
	}
	return rec
}

package node

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// What waits here of others starts only while its owner's word holds: an owner that has cancelled a job, or given an
// attempt up, would else be told too late. The word comes with the answer to a question (Hold, Held), or with an offer that
// follows the answer to a poll, and counts from when that left here, so that no delay makes it longer.

// After an owner's word has run out, an attempt is kept for so many leases. One that is to run at most once is kept
// longer: to a returning owner it would count as lost.
const (
	keptLeases = 10
	keptOnce   = 100
)

// gate sets up the ledger: how queues are estimated, and what may start.
func (n *Node) gate() {
	n.exec.Whole(!n.cfg.Balance.Rest)
	n.exec.Gate(n.mayStart)
}

// mayStart reports whether waiting work may start now. An owner starts its own while it may decide about the job.
func (n *Node) mayStart(now grid.Time, w *exec.Work) bool {
	if n.owner(w.ID.Task.Job) != n.cfg.Self {
		return now < w.Until
	}
	j := n.look(w.ID.Task.Job)
	return j == nil || !j.cancelled && n.acts(now, j)
}

// startBy is the time before which work must start that may start now; 0 = there is none. The driver's disk may let the
// word out long after it was given.
func (n *Node) startBy(w *exec.Work) grid.Time {
	if n.owner(w.ID.Task.Job) != n.cfg.Self {
		return w.Until
	}
	if j := n.look(w.ID.Task.Job); j != nil && j.guard != nil {
		return n.actsUntil(j)
	}
	return 0
}

// late takes back what was to start and came out too late for that: it waits again for its owner's word. A node that drains
// hands it back, like all that has not started.
func (n *Node) late(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	w := n.exec.Requeue(id)
	if w == nil && !n.exec.Stopped(id) { // it was told to end meanwhile, and will not begin
		return
	}
	if w != nil {
		n.saveWork(w, fx)
		n.wakeBeat(now, w, fx)
	}
	n.handOn(now, fx)
	n.run(now, fx)
	n.changed(now, fx)
}

// stamp names this node's time, in milliseconds, and boot. Who repeats it speaks later than that, however long it was on its way.
func (n *Node) stamp(now grid.Time) uint64 {
	return n.cfg.Boot<<40 | uint64(max(now, 0))/uint64(time.Millisecond)
}

// asked is the time that a stamp names.
func asked(stamp uint64) grid.Time {
	return grid.Time(stamp & (1<<40 - 1) * uint64(time.Millisecond))
}

// stamped reports whether this node made a stamp, in this boot.
func (n *Node) stamped(now grid.Time, stamp uint64) bool {
	return stamp>>40 == n.cfg.Boot&(1<<24-1) && asked(stamp) <= now
}

// askHold asks an owner whether work may still start, in one message with the others of it.
func (n *Node) askHold(now grid.Time, first int, w *exec.Work, to grid.NodeID, fx *grid.Effects) {
	m := batch(fx, first, to, grid.KindHold)
	m.Guard.Seq = n.stamp(now)
	m.Attempts = append(m.Attempts, w.ID)
}

// renew answers a worker: it names those that are live. To the owner the question is a beat.
func (n *Node) renew(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	n.beat(now, from, m.Attempts, fx)
	if q := n.peers.get(from); q != nil {
		q.stamp = max(q.stamp, m.Guard.Seq)
	}
	var a *grid.Message
	for _, id := range m.Attempts {
		l, isSecond := n.owned(from, id), false
		if l == nil {
			l = n.twinned(from, id)
			isSecond = l != nil
		}
		if l == nil || !isSecond && l.phase != placed || !n.acts(now, l.job) {
			continue
		}
		if a == nil {
			a = fx.Send(from, grid.KindHeld)
			a.Guard.Seq = m.Guard.Seq
		}
		a.Attempts = append(a.Attempts, id)
	}
}

// renewed takes an owner's word. One about a question of an earlier boot, or that was never asked, is none.
func (n *Node) renewed(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if !n.stamped(now, m.Guard.Seq) {
		n.stats.Stale++
		return
	}
	for _, id := range m.Attempts {
		w := n.exec.Get(id)
		if w != nil && id.Task.Job.Origin != from && !slices.Contains(n.kin(id.Task.Job), from) {
			n.unasked(from, fx)
			return
		}
		if w == nil || w.State != grid.WorkQueued || n.owner(id.Task.Job) != from {
			continue
		}
		n.freed = n.freed || now >= w.Until
		w.Until = max(w.Until, asked(m.Guard.Seq).Add(w.Lease))
		n.exec.Wake(w)
	}
}

// suspend lets no waiting work of a job start before its new owner says so.
func (n *Node) suspend(id grid.JobID) {
	for _, w := range n.exec.Of(id, nil) {
		if w.State == grid.WorkQueued {
			w.Until = -1
		}
	}
}

// weary lets go of waiting work whose owner has not been heard of for long.
func (n *Node) weary(now grid.Time, fx *grid.Effects) {
	for _, w := range slices.Clone(n.exec.Queue()) {
		if n.owner(w.ID.Task.Job) != n.cfg.Self && now >= max(w.Until, w.Accepted).Add(keptFor(w)) {
			n.forget(now, w.ID, fx)
		}
	}
}

// keptFor is for how long work waits without its owner's word.
func keptFor(w *exec.Work) time.Duration {
	if w.Spec.Retries == 0 {
		return keptOnce * w.Lease
	}
	return keptLeases * w.Lease
}

// recall takes waiting work of a job back that this node has not been able to decide about for long, for want of a majority
// of the register. It would never start, and who waits for this node to be idle would wait for ever.
func (n *Node) recall(now grid.Time, j *job, fx *grid.Effects) {
	p, acted := n.posts[j.id], n.actsUntil(j)
	if p == nil || p.owner != n.cfg.Self || now < acted.Add(keptLeases*n.cfg.Lease) {
		return
	}
	for _, w := range n.exec.Of(j.id, nil) {
		switch since := max(w.Until, w.Accepted, acted); {
		case w.State != grid.WorkQueued:
		case n.owned(n.cfg.Self, w.ID) != nil || n.twinned(n.cfg.Self, w.ID) != nil:
			if now >= since.Add(keptLeases*w.Lease) {
				n.giveBack(now, w, grid.Refusal{Why: grid.WhyMajority}, fx)
			}
		case now >= since.Add(keptFor(w)): // it has let go of the job, and nobody has taken that over
			n.forget(now, w.ID, fx)
			n.unrun.add(fenced{AttemptID: w.ID})
		}
	}
}

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
	maxUnleased     = 10
	maxUnleasedOnce = 100
)

// initExec sets up the ledger: how queues are estimated, and what may start.
func (n *Node) initExec() {
	n.exec.CountWhole(!n.cfg.Balance.Rest)
	n.exec.Gate(n.mayStart)
}

// mayStart reports whether waiting work may start now. An owner starts its own while it may decide about the job.
func (n *Node) mayStart(now grid.Time, w *exec.Work) bool {
	if n.ownerOf(w.ID.Task.Job) != n.cfg.Self {
		return now < w.Until
	}
	j := n.peekJob(w.ID.Task.Job)
	return j == nil || !j.cancelled && n.mayAct(now, j)
}

// startDeadline is the time before which work must start that may start now; 0 = there is none. The driver's disk may let the
// word out long after it was given.
func (n *Node) startDeadline(w *exec.Work) grid.Time {
	if n.ownerOf(w.ID.Task.Job) != n.cfg.Self {
		return w.Until
	}
	if j := n.peekJob(w.ID.Task.Job); j != nil && j.replica != nil {
		return n.mayActUntil(j)
	}
	return 0
}

// startedTooLate takes back what was to start and came out too late for that: it waits again for its owner's word. A node that drains
// hands it back, like all that has not started.
func (n *Node) startedTooLate(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	w := n.exec.Requeue(id)
	if w == nil && !n.exec.Stopped(id) { // it was told to end meanwhile, and will not begin
		return
	}
	if w != nil {
		n.saveWork(w, fx)
		n.scheduleBeat(now, w, fx)
	}
	n.handBackQueue(now, fx)
	n.startReady(now, fx)
	n.adChanged(now, fx)
}

// leaseStamp names this node's time, in milliseconds, and boot. Who repeats it speaks later than that, however long it was on its way.
func (n *Node) leaseStamp(now grid.Time) uint64 {
	return n.cfg.Boot<<40 | uint64(max(now, 0))/uint64(time.Millisecond)
}

// stampTime is the time that a stamp names.
func stampTime(stamp uint64) grid.Time {
	return grid.Time(stamp & (1<<40 - 1) * uint64(time.Millisecond))
}

// ownStamp reports whether this node made a stamp, in this boot.
func (n *Node) ownStamp(now grid.Time, stamp uint64) bool {
	return stamp>>40 == n.cfg.Boot&(1<<24-1) && stampTime(stamp) <= now
}

// requestStartLease asks an owner whether work may still start, in one message with the others of it.
func (n *Node) requestStartLease(now grid.Time, first int, w *exec.Work, to grid.NodeID, fx *grid.Effects) {
	m := attemptsMessage(fx, first, to, grid.KindStartLease)
	m.Register.Seq = n.leaseStamp(now)
	m.Attempts = append(m.Attempts, w.ID)
}

// grantStartLease answers a worker: it names those that are live. To the owner the question is a beat.
func (n *Node) grantStartLease(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	n.beatReceived(now, from, m.Attempts, fx)
	if q := n.peers.get(from); q != nil {
		q.stamp = max(q.stamp, m.Register.Seq)
	}
	var a *grid.Message
	for _, id := range m.Attempts {
		l, isSecond := n.currentAttempt(from, id), false
		if l == nil {
			l = n.backupOf(from, id)
			isSecond = l != nil
		}
		if l == nil || !isSecond && l.phase != placed || !n.mayAct(now, l.job) {
			continue
		}
		if a == nil {
			a = fx.Send(from, grid.KindStartLeaseAck)
			a.Register.Seq = m.Register.Seq
		}
		a.Attempts = append(a.Attempts, id)
	}
}

// startLeaseGranted takes an owner's word. One about a question of an earlier boot, or that was never asked, is none.
func (n *Node) startLeaseGranted(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	if !n.ownStamp(now, m.Register.Seq) {
		n.stats.Stale++
		return
	}
	for _, id := range m.Attempts {
		w := n.exec.Get(id)
		if w != nil && id.Task.Job.Origin != from && !slices.Contains(n.membersOf(id.Task.Job), from) {
			n.countOffence(from, fx)
			return
		}
		if w == nil || w.State != grid.WorkQueued || n.ownerOf(id.Task.Job) != from {
			continue
		}
		n.freed = n.freed || now >= w.Until
		w.Until = max(w.Until, stampTime(m.Register.Seq).Add(w.Lease))
		n.exec.Wake(w)
	}
}

// revokeStartLeases lets no waiting work of a job start before its new owner says so.
func (n *Node) revokeStartLeases(id grid.JobID) {
	for _, w := range n.exec.Of(id, nil) {
		if w.State == grid.WorkQueued {
			w.Until = -1
		}
	}
}

// dropUnleased lets go of waiting work whose owner has not been heard of for long.
func (n *Node) dropUnleased(now grid.Time, fx *grid.Effects) {
	for _, w := range slices.Clone(n.exec.Queue()) {
		if n.ownerOf(w.ID.Task.Job) != n.cfg.Self && now >= max(w.Until, w.Accepted).Add(unleasedLimit(w)) {
			n.forgetAttempt(now, w.ID, fx)
		}
	}
}

// unleasedLimit is for how long work waits without its owner's word.
func unleasedLimit(w *exec.Work) time.Duration {
	if w.Spec.Retries == 0 {
		return maxUnleasedOnce * w.Lease
	}
	return maxUnleased * w.Lease
}

// recallQueued takes waiting work of a job back that this node has not been able to decide about for long, for want of a majority
// of the register. It would never start, and who waits for this node to be idle would wait for ever.
func (n *Node) recallQueued(now grid.Time, j *job, fx *grid.Effects) {
	p, acted := n.ownerRecords[j.id], n.mayActUntil(j)
	if p == nil || p.owner != n.cfg.Self || now < acted.Add(maxUnleased*n.cfg.Lease) {
		return
	}
	for _, w := range n.exec.Of(j.id, nil) {
		switch since := max(w.Until, w.Accepted, acted); {
		case w.State != grid.WorkQueued:
		case n.currentAttempt(n.cfg.Self, w.ID) != nil || n.backupOf(n.cfg.Self, w.ID) != nil:
			if now >= since.Add(maxUnleased*w.Lease) {
				n.giveBack(now, w, grid.Refusal{Why: grid.WhyMajority}, fx)
			}
		case now >= since.Add(unleasedLimit(w)): // it has let go of the job, and nobody has taken that over
			n.forgetAttempt(now, w.ID, fx)
			n.neverRan.add(tombstone{AttemptID: w.ID})
		}
	}
}

package node

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// Start leases. An attempt of another owner may start here only while its start lease is valid: an owner that has
// cancelled a job, or given an attempt up, could otherwise tell this node too late. A start lease comes with the answer
// to a request (KindStartLease, KindStartLeaseAck), or with an offer that follows an answered poll. It counts from when
// the request or the answer left here, so no delay extends it.

// How long a waiting attempt is kept after its start lease has expired, in leases. One without retries is kept longer:
// a returning owner would count it as lost.
const (
	maxUnleased     = 10
	maxUnleasedOnce = 100
)

// initExec configures the ledger: how waits are estimated, and which work may start.
func (n *Node) initExec() {
	n.exec.CountWhole(!n.cfg.Balance.Rest)
	n.exec.Gate(n.mayStart)
}

// mayStart reports whether waiting work may start now. An owner starts its own while it holds the quorum lease.
func (n *Node) mayStart(now grid.Time, w *exec.Work) bool {
	if n.ownerOf(w.ID.Task.Job) != n.cfg.Self {
		return now < w.Until
	}
	j := n.peekJob(w.ID.Task.Job)
	return j == nil || !j.cancelled && n.mayAct(now, j)
}

// startDeadline is the time before which work released now must start; 0 = none. The driver's disk may release the
// start long after the lease was granted.
func (n *Node) startDeadline(w *exec.Work) grid.Time {
	if n.ownerOf(w.ID.Task.Job) != n.cfg.Self {
		return w.Until
	}
	if j := n.peekJob(w.ID.Task.Job); j != nil && j.replica != nil {
		return n.replicas.MayActUntil(j.replica.Replica)
	}
	return 0
}

// startedTooLate takes back an attempt whose start was released after the start lease expired: it waits again. A
// draining node hands it back like all that has not started.
func (n *Node) startedTooLate(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	w := n.exec.Requeue(id)
	if w == nil && !n.exec.Stopped(id) { // it was stopped meanwhile and will not start
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

// leaseStamp encodes this node's boot and time in milliseconds. A message that repeats it was sent later than that
// time, whatever its delay.
func (n *Node) leaseStamp(now grid.Time) uint64 {
	return n.cfg.Boot<<40 | uint64(max(now, 0))/uint64(time.Millisecond)
}

// stampTime is the time in a stamp.
func stampTime(stamp uint64) grid.Time {
	return grid.Time(stamp & (1<<40 - 1) * uint64(time.Millisecond))
}

// ownStamp reports whether this node made a stamp in this boot.
func (n *Node) ownStamp(now grid.Time, stamp uint64) bool {
	return stamp>>40 == n.cfg.Boot&(1<<24-1) && stampTime(stamp) <= now
}

// requestStartLease asks an owner for an attempt's start lease; requests to one owner share a message.
func (n *Node) requestStartLease(now grid.Time, first int, w *exec.Work, to grid.NodeID, fx *grid.Effects) {
	m := attemptsMessage(fx, first, to, grid.KindStartLease)
	m.Register.Seq = n.leaseStamp(now)
	m.Attempts = append(m.Attempts, w.ID)
}

// grantStartLease answers a worker's request: it names the attempts that are live. The request also counts as a beat.
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

// startLeaseGranted records an owner's grant. One for a request of an earlier boot, or that was never made, is ignored.
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

// revokeStartLeases invalidates the start leases of a job's waiting attempts until its new owner grants others.
func (n *Node) revokeStartLeases(id grid.JobID) {
	for _, w := range n.exec.Of(id, nil) {
		if w.State == grid.WorkQueued {
			w.Until = -1
		}
	}
}

// dropUnleased drops waiting attempts whose start lease expired long ago.
func (n *Node) dropUnleased(now grid.Time, fx *grid.Effects) {
	for _, w := range slices.Clone(n.exec.Queue()) {
		if n.ownerOf(w.ID.Task.Job) != n.cfg.Self && now >= max(w.Until, w.Accepted).Add(unleasedLimit(w)) {
			n.forgetAttempt(now, w.ID, fx)
		}
	}
}

// unleasedLimit is how long an attempt waits without a start lease.
func unleasedLimit(w *exec.Work) time.Duration {
	if w.Spec.Retries == 0 {
		return maxUnleasedOnce * w.Lease
	}
	return maxUnleased * w.Lease
}

// recallQueued takes back waiting attempts of a job for which this owner has had no quorum lease for long. They would
// never start, and tasks that wait for this node to be idle would wait for ever.
func (n *Node) recallQueued(now grid.Time, j *job, fx *grid.Effects) {
	rec, leaseEnd := n.ownerRecords[j.id], n.replicas.MayActUntil(j.replica.Replica)
	if rec == nil || rec.owner != n.cfg.Self || now < leaseEnd.Add(maxUnleased*n.cfg.Lease) {
		return
	}
	for _, w := range n.exec.Of(j.id, nil) {
		switch since := max(w.Until, w.Accepted, leaseEnd); {
		case w.State != grid.WorkQueued:
		case n.currentAttempt(n.cfg.Self, w.ID) != nil || n.backupOf(n.cfg.Self, w.ID) != nil:
			if now >= since.Add(maxUnleased*w.Lease) {
				n.giveBack(now, w, grid.Refusal{Why: grid.WhyMajority}, fx)
			}
		case now >= since.Add(unleasedLimit(w)): // this node has dropped the job, and nobody has taken it over
			n.forgetAttempt(now, w.ID, fx)
			n.neverRan.add(tombstone{AttemptID: w.ID})
		}
	}
}

package node

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// Start leases. An attempt may start here only while its start lease is valid: an owner that has cancelled a job, or
// given an attempt up, could otherwise tell this node too late. A start lease comes with the answer to a request
// (KindStartLease, KindStartLeaseAck), or with an offer that follows an answered poll. It counts from when the request
// or the answer left here, so no delay extends it.

// How long a waiting attempt is kept after its start lease has expired, in leases. One without retries is kept longer:
// a returning owner would count it as lost.
const (
	maxUnleased     = 10
	maxUnleasedOnce = 100
)

// initExec configures the ledger: how waits are estimated, and which work may start.
func (n *Node) initExec() {
	n.exec.CountWhole(!n.cfg.Balance.Rest)
	n.exec.Gate(mayStart)
}

// mayStart reports whether waiting work may start now.
func mayStart(now grid.Time, w *exec.Work) bool { return now < w.Until }

// startedTooLate takes back an attempt whose start was released after the start lease expired: it waits again. A
// draining node hands it back like all that has not started.
func (n *Node) startedTooLate(now grid.Time, id grid.AttemptID, fx *grid.Effects) {
	w := n.exec.Requeue(id)
	if w == nil && !n.exec.Stopped(id) { // it was stopped meanwhile and will not start
		return
	}
	if w != nil {
		n.saveWork(w, fx)
		n.leasesDue = true
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

// stampOf returns the newest stamp that a worker sent; 0 = none. This node's own is always new.
func (n *Node) stampOf(now grid.Time, worker grid.NodeID) uint64 {
	if worker == n.cfg.Self {
		return n.leaseStamp(now)
	}
	if q := n.peers.get(worker); q != nil {
		return q.stamp
	}
	return 0
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
		if l == nil || !isSecond && l.phase != placed || l.job.cancelled {
			continue
		}
		if !n.mayAct(now, l.job) {
			l.job.replica.leasesDenied = true
			n.awaitMajority(l.job)
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

// dropUnleased drops waiting attempts whose start lease expired long ago. Those of this node's own jobs are handed back:
// tasks that wait for this node to be idle would wait for ever.
func (n *Node) dropUnleased(now grid.Time, fx *grid.Effects) {
	for _, w := range slices.Clone(n.exec.Queue()) {
		own := n.ownerOf(w.ID.Task.Job) == n.cfg.Self
		limit := maxUnleased * w.Lease
		if !own && w.Spec.Retries == 0 {
			limit = maxUnleasedOnce * w.Lease
		}
		switch {
		case now < max(w.Until, w.Accepted).Add(limit):
		case own:
			n.giveBack(now, w, grid.Refusal{Why: grid.WhyMajority}, fx)
		default:
			n.forgetAttempt(now, w.ID, fx)
		}
	}
}

// requestOwnLeases requests, if the leases are due, start leases for this node's own waiting work that has none.
func (n *Node) requestOwnLeases(now grid.Time, fx *grid.Effects) {
	if !n.leasesDue {
		return
	}
	n.leasesDue = false
	for _, w := range n.exec.Queue() {
		if w.Until <= now && n.ownerOf(w.ID.Task.Job) == n.cfg.Self {
			n.requestStartLease(now, n.firstSend, w, n.cfg.Self, fx)
		}
	}
}

package worker

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

// mayStart reports whether waiting work may start now.
func mayStart(now grid.Time, a *exec.Work) bool { return now < a.Until }

// isUnleased reports whether waiting work has lost its start lease, or has been given none for the time of one: beats
// have requested it more than once by then, so its owner does not answer.
func isUnleased(now grid.Time, a *exec.Work) bool {
	return now >= max(a.Until, a.Accepted.Add(a.Lease))
}

// StartedTooLate takes back an attempt whose start was released after the start lease expired: it waits again, and has
// used nothing of its job's budget. A draining node hands it back like all that has not started, and so does one that
// reached nobody who holds a secret of the job: its owner waits for such a node, or finds a worker that reaches one.
func (w *Worker) StartedTooLate(now grid.Time, id grid.AttemptID, noSecret bool, fx *grid.Effects) {
	a := w.exec.Requeue(id)
	if a == nil && !w.exec.Stopped(id) { // it was stopped meanwhile and will not start
		return
	}
	if a != nil && noSecret {
		w.handBack(now, a, grid.HandBack{Why: grid.WhySecret}, fx)
	} else if a != nil {
		w.save(a, fx)
		w.tellWaits(a, fx)
		w.leasesDue = true
	} else if a = w.exec.Get(id); a != nil && a.HandedBack != nil {
		w.sendHandBack(now, a, fx)
	}
	w.HandBackQueue(now, fx)
	w.startReady(now, fx)
	w.news.Changed = true
}

// tellWaits tells an owner that an attempt waits here which it may have been told has started.
func (w *Worker) tellWaits(a *exec.Work, fx *grid.Effects) {
	if to := w.Owner(a.ID.Task.Job); w.own(a.ID.Task.Job) {
		w.tellSelf(a, fx)
	} else if w.cfg.Contacts.Connected(to) {
		w.beat(to, a, fx)
	}
}

// Stamp encodes this node's boot and time in milliseconds. A message that repeats it was sent later than that time,
// whatever its delay.
func (w *Worker) Stamp(now grid.Time) uint64 {
	return w.cfg.Boot<<40 | uint64(max(now, 0))/uint64(time.Millisecond)
}

// stampTime is the time in a stamp.
func stampTime(stamp uint64) grid.Time {
	return grid.Time(stamp & (1<<40 - 1) * uint64(time.Millisecond))
}

// isOwnStamp reports whether this node made a stamp in this boot.
func (w *Worker) isOwnStamp(now grid.Time, stamp uint64) bool {
	return stamp>>40 == w.cfg.Boot&(1<<24-1) && stampTime(stamp) <= now
}

// requestStartLease asks an owner for an attempt's start lease; requests to one owner share a message.
func (w *Worker) requestStartLease(now grid.Time, a *exec.Work, to grid.NodeID, fx *grid.Effects) {
	m := fx.About(to, grid.KindStartLease)
	m.Register.Seq = w.Stamp(now)
	m.Attempts = append(m.Attempts, a.ID)
}

// requestInOrder is requestStartLease with the attempt's place in the order here, which has just been found.
func (w *Worker) requestInOrder(now grid.Time, a *exec.Work, to grid.NodeID, fx *grid.Effects) {
	m := fx.About(to, grid.KindStartLease)
	if len(m.Attempts) == 0 { // else the message was begun by who knows no places
		m.Order = w.cfg.Order.Number()
	}
	if place := a.Place(); m.Order != 0 && place > 0 {
		m.Reports = append(m.Reports, grid.Report{At: len(m.Attempts), Queued: true, Place: place})
	}
	w.requestStartLease(now, a, to, fx)
}

// RequestOwnLeases requests, if they are due, start leases for waiting attempts of this node's own jobs that have none.
func (w *Worker) RequestOwnLeases(now grid.Time, fx *grid.Effects) {
	if !w.leasesDue {
		return
	}
	w.leasesDue = false
	for _, a := range w.exec.Queue() {
		if a.Until <= now && w.own(a.ID.Task.Job) {
			w.requestStartLease(now, a, w.cfg.Self, fx)
		}
	}
}

// LeasesGranted records an owner's grant. One for a request of an earlier boot, or that was never made, is ignored. It
// reports false if the sender cannot be the owner of what it grants: no honest node sends that.
func (w *Worker) LeasesGranted(now grid.Time, from grid.NodeID, m *grid.Message) (honest bool) {
	if !w.isOwnStamp(now, m.Register.Seq) {
		w.counts.stale++
		return true
	}
	for _, id := range m.Attempts {
		a := w.exec.Get(id)
		if a != nil && id.Task.Job.Origin != from && !slices.Contains(w.membersOf(id.Task.Job), from) {
			return false
		}
		if a == nil || a.State != grid.WorkQueued || w.Owner(id.Task.Job) != from {
			continue
		}
		w.freed = w.freed || now >= a.Until
		a.Until = max(a.Until, stampTime(m.Register.Seq).Add(a.Lease))
		w.exec.Wake(a)
	}
	return true
}

// revokeStartLeases invalidates the start leases of a job's waiting attempts until its new owner grants others.
func (w *Worker) revokeStartLeases(id grid.JobID) {
	for _, a := range w.exec.Of(id, nil) {
		if a.State == grid.WorkQueued {
			a.Until = -1
		}
	}
}

// dropUnleased drops waiting attempts whose start lease expired long ago. Those of this node's own jobs are handed
// back: tasks that wait for this node to be idle would wait for ever.
func (w *Worker) dropUnleased(now grid.Time, fx *grid.Effects) {
	for _, a := range slices.Clone(w.exec.Queue()) {
		own, limit := w.own(a.ID.Task.Job), maxUnleased*a.Lease
		if !own && a.Spec.Retries == 0 {
			limit = maxUnleasedOnce * a.Lease
		}
		if a.Spec.IsGang() { // it does not start: the slot is given back
			limit = a.Lease
		}
		switch {
		case now < max(a.Until, a.Accepted).Add(limit):
		case a.Spec.IsGang():
			w.handBack(now, a, grid.HandBack{Why: grid.WhyGang}, fx)
		case own:
			w.handBack(now, a, grid.HandBack{Why: grid.WhyMajority}, fx)
		default:
			w.Forget(a.ID, fx)
		}
	}
}

package node

import (
	"slices"
	"time"

	"skep/exec"
	"skep/grid"
)

// What waits here of others starts only while its owner's word holds: an owner that has cancelled a job, or given an
// attempt up, would else be told too late. The word comes with the answer to a question (Hold, Held) and counts from
// when that was asked, so that no delay makes it longer.

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
	j := n.job(w.ID.Task.Job)
	return j == nil || !j.cancelled && n.acts(now, j)
}

// firstWord is how long an offer lets work start. The first question is asked before half of that is over, and what of
// the lease is left is for the offer's way.
func firstWord(lease time.Duration) time.Duration { return lease / 3 * 2 }

// askHold asks an owner whether work may still start, in one message with the others of it. The question names its time
// and boot.
func (n *Node) askHold(now grid.Time, first int, w *exec.Work, to grid.NodeID, fx *grid.Effects) {
	m := batch(fx, first, to, grid.KindHold)
	m.Guard.Seq = n.cfg.Boot<<40 | uint64(max(now, 0))/uint64(time.Millisecond)
	m.Attempts = append(m.Attempts, w.ID)
}

// renew answers a worker: it names those that are live. To the owner the question is a beat.
func (n *Node) renew(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	n.beat(now, from, m.Attempts, fx)
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
	asked := grid.Time(m.Guard.Seq & (1<<40 - 1) * uint64(time.Millisecond))
	if m.Guard.Seq>>40 != n.cfg.Boot&(1<<24-1) || asked > now {
		n.stats.Stale++
		return
	}
	for _, id := range m.Attempts {
		w := n.exec.Get(id)
		if w == nil || w.State != grid.WorkQueued || n.owner(id.Task.Job) != from {
			continue
		}
		n.freed = n.freed || now >= w.Until
		w.Until = max(w.Until, asked.Add(w.Lease))
	}
}

// suspend lets no waiting work of a job start before its new owner says so.
func (n *Node) suspend(id grid.JobID) {
	for _, w := range n.exec.Queue() {
		if w.ID.Task.Job == id {
			w.Until = -1
		}
	}
}

// weary lets go of waiting work whose owner has not been heard of for long.
func (n *Node) weary(now grid.Time, fx *grid.Effects) {
	for _, w := range slices.Clone(n.exec.Queue()) {
		leases := keptLeases
		if w.Spec.Retries == 0 {
			leases = keptOnce
		}
		if n.owner(w.ID.Task.Job) != n.cfg.Self && now >= max(w.Until, w.Accepted).Add(time.Duration(leases)*w.Lease) {
			n.forget(now, w.ID, fx)
		}
	}
}

package node

import (
	"skep/balance"
	"skep/grid"
)

// While the register of a new job forms, a place for its first task is looked for: what of that takes messages, and the commit of the
// attempt, go on beside the members' writes. Only the offer, or the start, waits for the majority.

// isProvisional reports whether a job submitted here waits for its first majority, and its first task may be given a place meanwhile. Not one that is to run
// at most once: a crash before the offer would end it as lost. Nor where a policy places many at once.
func (n *Node) isProvisional(j *job) bool {
	if j.replica == nil || !j.replica.provisional || !j.replica.reg.Leads() || j.spec.Retries == 0 {
		return false
	}
	_, many := n.policyOf(j).(balance.Batch)
	return !many
}

// mayPlan reports whether the first task of a job is to be given a place before a majority has the job.
func (n *Node) mayPlan(j *job) bool {
	return j.nextFresh == 0 && j.state(0) == grid.Pending && j.at(0).live == nil && n.isProvisional(j)
}

// planOffer keeps an attempt that is made until the register's majority has answered.
func (n *Node) planOffer(now grid.Time, l *liveTask, ect float64, fx *grid.Effects) {
	l.planned, l.ect = true, ect
	l.awaitsMajority, l.awaitsProof, l.awaitsNode = true, false, false
	n.parkFor(now, l, n.cfg.Lease/3, fx)
}

// sendPlanned offers what was planned. A worker that has gone meanwhile has never heard of it.
func (n *Node) sendPlanned(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.planned = false
	if q := n.peers.get(l.task().worker); q == nil || !q.up {
		n.refusedAttempt(now, l, grid.Refusal{Why: grid.WhyGone}, fx)
		return
	}
	l.task().placed, l.madeAt = n.wall.At(now).UnixNano(), now
	n.startPromise(now, &l.promise)
	n.attemptReturned(now, &l.promise, l.task().worker, false) // its time begins now
	n.givenAttempt(now, &l.promise, l.class(), l.task().worker, l.ect)
	n.sendFirstOffer(now, l, fx)
}

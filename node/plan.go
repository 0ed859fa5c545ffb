package node

import (
	"skep/balance"
	"skep/grid"
)

// Planned offers. While the register of a new job waits for its first majority, its first task is already placed:
// polling and the attempt's record overlap with the members' writes. Only the offer, or the start, waits for the
// majority.

// isProvisional reports whether a job submitted here awaits its first majority and its first task may be placed
// meanwhile. Not a job without retries: a crash before the offer would end the task as lost. Not under a batch policy.
func (n *Node) isProvisional(j *job) bool {
	if !j.replica.provisional || !j.replica.IsOwner() || j.spec.Retries == 0 {
		return false
	}
	_, batch := n.policyOf(j).(balance.Batch)
	return !batch
}

// mayPlan reports whether a job's first task may be placed before a majority has the job.
func (n *Node) mayPlan(j *job) bool {
	return j.nextFresh == 0 && j.state(0) == grid.Pending && j.at(0).live == nil && n.isProvisional(j)
}

// planOffer holds a made attempt back until a majority of the register has answered.
func (n *Node) planOffer(now grid.Time, l *liveTask, ect float64, fx *grid.Effects) {
	l.planned, l.ect = true, ect
	l.awaitsMajority, l.awaitsProof, l.awaitsNode = true, false, false
	n.parkFor(now, l, n.cfg.Lease/3, fx)
}

// keepPlanned keeps a planned attempt back for longer. It is no longer among its worker's outstanding ones: a worker is
// not late with what it was never offered.
func (n *Node) keepPlanned(now grid.Time, l *liveTask, fx *grid.Effects) {
	n.attemptReturned(now, &l.promise, l.task().worker, false)
	n.waitForMajority(now, l, fx)
}

// sendPlanned offers a planned attempt. If the worker has gone meanwhile, or has as many attempts as it may have, it
// never heard of this one: that is a refusal.
func (n *Node) sendPlanned(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.planned = false
	worker := l.task().worker
	n.attemptReturned(now, &l.promise, worker, false) // its promised time begins now
	q := n.peers.get(worker)
	switch {
	case worker == n.cfg.Self:
	case q == nil || !q.up:
		n.refusedAttempt(now, l, grid.Refusal{Why: grid.WhyGone}, fx)
		return
	case n.records.Of(worker).OnProbation(now, grid.MilliCPU(q.cores)):
		n.refusedAttempt(now, l, grid.Refusal{Why: grid.WhyUnproven}, fx)
		return
	}
	l.task().placed, l.promise.Made = n.wall.At(now).UnixNano(), now
	n.records.Start(now, &l.promise)
	n.givenAttempt(now, &l.promise, l.class(), worker, l.ect)
	n.sendFirstOffer(now, l, fx)
}

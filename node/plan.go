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
func (c *coordinator) isProvisional(j *job) bool {
	if !j.replica.provisional || !j.replica.IsOwner() || j.spec.Retries == 0 {
		return false
	}
	_, batch := c.policyOf(j).(balance.Batch)
	return !batch
}

// mayPlan reports whether a job's first task may be placed before a majority has the job.
func (c *coordinator) mayPlan(j *job) bool {
	return j.nextFresh == 0 && j.state(0) == grid.Pending && j.at(0).live == nil && c.isProvisional(j)
}

// planOffer holds a made attempt back until a majority of the register has answered.
func (c *coordinator) planOffer(now grid.Time, l *liveTask, ect float64, fx *grid.Effects) {
	l.planned, l.ect = true, ect
	l.awaitsMajority, l.awaitsProof, l.awaitsNode = true, false, false
	c.parkFor(now, l, c.cfg.Lease/3, fx)
}

// keepPlanned keeps a planned attempt back for longer. It is no longer among its worker's outstanding ones: a worker is
// not late with what it was never offered.
func (c *coordinator) keepPlanned(now grid.Time, l *liveTask, fx *grid.Effects) {
	c.attemptReturned(now, &l.promise, l.task().worker, false)
	c.waitForMajority(now, l, fx)
}

// sendPlanned offers a planned attempt. If the worker has gone meanwhile, or has as many attempts as it may have, it
// never heard of this one: that is a refusal.
func (c *coordinator) sendPlanned(now grid.Time, l *liveTask, fx *grid.Effects) {
	l.planned = false
	worker := l.task().worker
	c.attemptReturned(now, &l.promise, worker, false) // its promised time begins now
	q := c.peers.get(worker)
	switch {
	case worker == c.cfg.Self:
	case q == nil || !q.up:
		c.refusedAttempt(now, l, grid.Refusal{Why: grid.WhyGone}, fx)
		return
	case c.records.Of(worker).OnProbation(now, grid.MilliCPU(q.cores)):
		c.refusedAttempt(now, l, grid.Refusal{Why: grid.WhyUnproven}, fx)
		return
	}
	l.task().placed, l.promise.Made = c.wall.At(now).UnixNano(), now
	c.records.Start(now, &l.promise)
	c.givenAttempt(now, &l.promise, l.class(), worker, l.ect)
	c.sendFirstOffer(now, l, fx)
}

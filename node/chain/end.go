package chain

import (
	"math"

	"skep/grid"
)

// Own has this node sign as the owner of an epoch, by these votes: of the members that it knew then.
func (c *Chain) Own(epoch uint32, votes string) {
	c.own = &grant{c.self, epoch, c.votersOf(epoch), votes}
	if c.own.list > 0 && c.checkGrant(c.own) != nil { // it has heard of the last change since
		c.own.list--
	}
}

// Assign returns what the owner signs that gives an attempt to a worker, for the offer. To itself it need not: the
// worker's signature covers it. An attempt that it made in an earlier epoch it gives anew in its own: after a restart
// it knows no other. "" = this node owns no epoch from the attempt's on.
func (c *Chain) Assign(task uint32, a grid.Attempt, worker grid.NodeID) string {
	if c.own == nil || a.Epoch > c.own.epoch {
		return ""
	}
	b := c.own.append(c.job[:])
	if worker != c.self {
		id := grid.AttemptID{Task: grid.TaskID{Job: c.id, Index: task}, Attempt: a}
		b = append(b, c.signer.Sign(assignment(c.job, id, c.self, worker))...)
	}
	return string(b)
}

// Attest returns the result of an attempt with this node's signature, as the worker that it was assigned to; r itself
// where there is nothing to sign: the assignment is none, or the end is not a worker's to tell.
func Attest(s Signer, self grid.NodeID, id grid.AttemptID, assigned string, r *grid.Result) *grid.Result {
	var job Hash
	if s == nil || len(assigned) < len(job) || len(assigned) > MaxProof || !ByWorker(r.Cause) {
		return r
	}
	copy(job[:], assigned)
	g, rest, ok := cutGrant(assigned[len(job):])
	if !ok || len(rest) != SignatureSize && (rest != "" || g.owner != self) {
		return r
	}
	by := assignment(job, id, g.owner, self).sum()
	signed := *r
	p := proof{form: byWorker, grant: g, assigned: rest, end: string(s.Sign(workerEnd(by, r)))}
	signed.Proof = p.encode()
	return &signed
}

// wholeJob stands for the task in what an owner signs of the end of many tasks: that of all that had not ended.
const wholeJob = math.MaxUint32

// ByOwner returns a result with this node's signature, as the owner that ends a task with it. What a worker has signed
// stays as it is, and so does what an owner has.
func (c *Chain) ByOwner(task uint32, r *grid.Result) *grid.Result {
	if r.Proof != "" || c.own == nil {
		return r
	}
	form, of := byOwner, task
	if r.Cause.Withdrawn() { // of all tasks of a job at once
		form, of = byOwnerOf, wholeJob
		if x := c.ended; x != nil && x.epoch == c.own.epoch && x.result == resultHash(r) && x.words == r.Error {
			return x.signed
		}
	}
	signed := *r
	p := proof{form: form, grant: *c.own, end: string(c.signer.Sign(ownerEnd(c.job, c.own.epoch, of, r)))}
	signed.Proof = p.encode()
	if of == wholeJob {
		c.ended = &ending{c.own.epoch, resultHash(r), r.Error, &signed}
	}
	return &signed
}

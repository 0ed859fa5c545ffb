package chain

import (
	"math"

	"skep/grid"
)

// Own has this node sign as the owner of an epoch, by these votes.
func (c *Chain) Own(epoch uint32, votes string) {
	if g := c.grantOf(epoch); g == nil {
		c.owned = append(c.owned, mandate{epoch, grant{c.self, uint8(len(c.lists) - 1), votes}})
	}
}

// grantOf is why this node owns an epoch; nil = it does not, as far as is known since it started.
func (c *Chain) grantOf(epoch uint32) *grant {
	for k := range c.owned {
		if c.owned[k].epoch == epoch {
			return &c.owned[k].grant
		}
	}
	return nil
}

// Assign returns what the owner of an attempt's epoch signs that gives it to a worker, for the offer. To itself it need
// not: the worker's signature covers it. "" = this node does not own that epoch.
func (c *Chain) Assign(task uint32, a grid.Attempt, worker grid.NodeID) string {
	g := c.grantOf(a.Epoch)
	if g == nil {
		return ""
	}
	b := g.append(c.job[:])
	if worker != c.self {
		b = append(b, c.signer.Sign(assignment(c.job, c.self, task, a, worker))...)
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
	by := assignment(job, g.owner, id.Task.Index, id.Attempt, self).sum()
	signed := *r
	p := proof{form: byWorker, grant: g, assigned: rest, end: string(s.Sign(workerEnd(by, r)))}
	signed.Proof = p.encode()
	return &signed
}

// wholeJob stands for the task in what an owner signs of the end of many tasks: that of all that had not ended.
const wholeJob = math.MaxUint32

// ByOwner returns a result with this node's signature, as the owner of that epoch that ends a task with it. What a
// worker has signed stays as it is, and so does what an owner has.
func (c *Chain) ByOwner(task, epoch uint32, r *grid.Result) *grid.Result {
	g := c.grantOf(epoch)
	if r.Proof != "" || g == nil {
		return r
	}
	form, of := byOwner, task
	if r.Cause.Withdrawn() { // of all tasks of a job at once
		form, of = byOwnerOf, wholeJob
		if x := &c.ended; x.signed != nil && x.epoch == epoch && x.result == resultHash(r) && x.words == r.Error {
			return x.signed
		}
	}
	signed := *r
	p := proof{form: form, grant: *g, epoch: epoch,
		end: string(c.signer.Sign(ownerEnd(c.job, epoch, of, r)))}
	signed.Proof = p.encode()
	if of == wholeJob {
		c.ended = ending{epoch, resultHash(r), r.Error, &signed}
	}
	return &signed
}

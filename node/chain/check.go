package chain

import (
	"skep/grid"
)

// Check checks all links from the origin to an entry of the register, and returns who has signed what of it. An entry
// that is not of a task has none.
func (c *Chain) Check(e *grid.Entry) (Signed, error) {
	if e.Result == nil || e.Index >= c.spec.Count {
		return Signed{}, nil
	}
	return c.check(e.Index, e.Attempt, e.Worker, e.Result)
}

// CheckResult checks all links to the result of an attempt that a worker has sent.
func (c *Chain) CheckResult(worker grid.NodeID, id grid.AttemptID, r *grid.Result) error {
	if !ByWorker(r.Cause) { // the owner is to sign it
		if r.Proof != "" {
			return wrong(Worker, "no worker signs that a task %s", r.Cause)
		}
		return nil
	}
	_, err := c.check(id.Task.Index, id.Attempt, worker, r)
	return err
}

func (c *Chain) check(task uint32, a grid.Attempt, worker grid.NodeID, r *grid.Result) (s Signed, err error) {
	p, ok := decodeProof(r.Proof)
	switch {
	case r.Proof == "":
		return s, wrong(c.due(r), "there is no signature")
	case !ok:
		return s, wrong(c.due(r), "the signatures are malformed")
	case p.form != byWorker:
		return c.checkOwner(task, a, worker, r, &p)
	}
	if err := c.checkGrant(&p.grant); err != nil {
		return s, err
	}
	given := assignment(c.job, grid.AttemptID{Task: grid.TaskID{Job: c.id, Index: task}, Attempt: a}, p.owner, worker)
	switch {
	case a.Epoch > p.epoch || a.Epoch == 0:
		return s, wrong(Votes, "an attempt of epoch %d is not that of the owner of epoch %d", a.Epoch, p.epoch)
	case p.assigned == "" && p.owner != worker, p.assigned != "" && !c.signer.Verify(p.owner, given, []byte(p.assigned)):
		return s, wrong(Assignment, "node %s has not given attempt %d.%d of task %d to node %s", p.owner.Short(), a.Epoch,
			a.N, task, worker.Short())
	case !c.signer.Verify(worker, workerEnd(given.sum(), r), []byte(p.end)):
		return s, wrong(Worker, "node %s has not signed that attempt %d.%d of task %d ended so", worker.Short(), a.Epoch, a.N,
			task)
	}
	return Signed{Owner: p.owner, Epoch: p.epoch, Worker: worker}, nil
}

// due is the link that an end without a signature lacks.
func (c *Chain) due(r *grid.Result) Link {
	if ByWorker(r.Cause) {
		return Worker
	}
	return Owner
}

// checkOwner checks an end that an owner has signed.
func (c *Chain) checkOwner(task uint32, a grid.Attempt, worker grid.NodeID, r *grid.Result, p *proof) (s Signed,
	err error) {
	if ByWorker(r.Cause) && !c.unused(task, a, worker, r) {
		return s, wrong(Worker, "only the worker, node %s, can say that task %d %s with %d", worker.Short(), task, r.Cause,
			r.Exit)
	}
	of := task
	if p.form == byOwnerOf {
		if of = wholeJob; !r.Cause.Withdrawn() {
			return s, wrong(Owner, "it ends each task of the job, which none but a cancellation does")
		}
	}
	if err := c.checkGrant(&p.grant); err != nil {
		return s, err
	}
	if !c.signer.Verify(p.owner, ownerEnd(c.job, p.epoch, of, r), []byte(p.end)) {
		return s, wrong(Owner, "node %s has not signed that task %d %s", p.owner.Short(), task, r.Cause)
	}
	return Signed{Owner: p.owner, Epoch: p.epoch}, nil
}

// unused reports whether the end is that of a rank which its gang's attempt had no use for.
func (c *Chain) unused(task uint32, a grid.Attempt, worker grid.NodeID, r *grid.Result) bool {
	ranks := c.spec.Gang.RanksOf(a)
	return c.spec.IsGang() && worker.IsZero() && ranks > 0 && task >= ranks && r.Cause == grid.Exited && r.Exit == 0
}

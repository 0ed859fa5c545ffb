package secret

import (
	"fmt"

	"skep/grid"
	"skep/node/chain"
)

// Op is what a request asks for. The numbers are on the wire: never reuse one.
type Op uint8

// Operations.
const (
	Get    Op = iota + 1 // a worker: the value, for an attempt
	Set                  // the owner: hold it
	Remove               // the owner: hold it no longer
	Look                 // an origin: where it is and who may get it
	ops
)

// Request is a request about one secret.
type Request struct {
	Op     Op
	Secret // of Set; of the others its ID

	Value []byte // of Set

	// Of Get.
	Attempt grid.AttemptID
	Spec    *grid.JobSpec // with its origin's seal, which was checked
	Given   grid.Given
}

// Check reports the first thing that is wrong with a request in itself.
func (r *Request) Check() error {
	switch {
	case r.Op == 0 || r.Op >= ops:
		return fmt.Errorf("request %d about a secret: want 1 to %d", r.Op, ops-1)
	case !grid.ValidSecretName(r.Name):
		return fmt.Errorf("secret %.80q: want a name", r.Name)
	case r.Op == Get && r.Spec == nil:
		return fmt.Errorf("secret %s: no job: want its specification", r.Name)
	case r.Op != Set:
		return nil
	}
	if err := r.Secret.Check(); err != nil {
		return err
	}
	return CheckValue(r.Name, r.Value)
}

// Allow reports why a worker that has proved who it is does not get a secret which this node holds, for the attempt
// that the request names; nil = it does. An error is for this node's log: the worker is told that it is refused.
func Allow(s chain.Signer, self, worker grid.NodeID, held *Secret, r *Request) error {
	spec, job := r.Spec, r.Attempt.Task.Job
	switch {
	case !held.Trusts(worker):
		return fmt.Errorf("node %s is not among the workers that may get it", worker.Short())
	case spec.Sealed == "" || !spec.Signed || spec.Submitter.Node != job.Origin:
		return fmt.Errorf("job %s is not signed", job.Short())
	case !held.Admits(spec.Submitter):
		return fmt.Errorf("jobs of %q at node %s may not use it", spec.Submitter.User, job.Origin.Short())
	case spec.Secret(held.Owner, held.Name) == nil:
		return fmt.Errorf("job %s does not use it", job.Short())
	case r.Attempt.Task.Index >= spec.Count:
		return fmt.Errorf("job %s has no task %d", job.Short(), r.Attempt.Task.Index)
	}
	return chain.CheckGiven(s, self, worker, r.Attempt, spec, &r.Given)
}

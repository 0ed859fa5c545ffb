package node

import (
	"errors"
	"fmt"
	"slices"

	"skep/balance"
	"skep/grid"
	"skep/node/rates"
	"skep/node/worker"
)

// Bounds on the run time of a class. A task that runs longer was declared too small and delays the small tasks behind
// it. It is stopped, and its owner places it again with the next class, which may belong to other nodes [4 of
// balance, sections 3.4 and 14: the bound theta of a class]. That is not a loss. A task that may run at most once is
// exempt.

// Bound limits how long a task of a class may run on this node, and names the class of a task that takes longer.
type Bound = worker.Bound

// maxDemotions bounds how often a task changes its class.
const maxDemotions = 4

// demotion records a task's earlier class and the worker that found it too small.
type demotion struct {
	node  grid.NodeID
	class string
}

// checkBounds reports invalid bounds. A cycle of classes would stop a task again and again.
func (c *Config) checkBounds() error {
	var errs []error
	for i, b := range c.Bounds {
		if b.Class == "" || b.Next == "" || b.Class == b.Next || !rates.IsClass(b.Class) || !rates.IsClass(b.Next) || b.Time <= 0 {
			errs = append(errs, fmt.Errorf("bounds[%d]: %v for class %q, then %q: want more than 0 and two classes", i, b.Time, b.Class, b.Next))
			continue
		}
		next := b.Next
		for range c.Bounds {
			k := slices.IndexFunc(c.Bounds, func(o Bound) bool { return o.Class == next })
			if k < 0 {
				break
			}
			if next = c.Bounds[k].Next; next == b.Class {
				errs = append(errs, fmt.Errorf("bounds[%d]: class %q leads to %q and from there back: want no circle", i, b.Class, b.Next))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// mayDemoteTo reports whether a worker may move the task to that class: not to a class that it had before, and at
// most maxDemotions times. Otherwise the result is an ordinary loss.
func (l *liveTask) mayDemoteTo(next string) bool {
	return next != "" && rates.IsClass(next) && next != l.class() && l.job.spec.Retries > 0 && len(l.demotions) < maxDemotions &&
		!slices.ContainsFunc(l.demotions, func(d demotion) bool { return d.class == next })
}

// demote places a task again with the class that its worker named, and reports whether the result was a valid
// demotion. Only the worker knows whether the task really ran too long. So the result is no delivery, other nodes are
// preferred, and it counts as a failure of the old class at that worker.
func (c *coordinator) demote(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) bool {
	if !l.mayDemoteTo(r.Next) {
		return false
	}
	worker, next := l.task().worker, c.rates.Intern(r.Next)
	c.attemptReturned(now, &l.promise, worker, false)
	c.policies.Note(balance.Outcome{Kind: balance.Finished, At: now, Node: worker, Class: l.class()})
	c.failures.Failed(now, l.class(), worker)
	l.demotions = append(l.demotions, demotion{worker, l.class()})
	l.demotedTo, l.request.Class = next, next
	c.rates.ArriveForeign(now, next, l.job.spec)
	c.trace(l.task(), grid.Trace{At: now, What: grid.TraceDemoted, Node: worker, Refusal: grid.Refusal{Detail: next}})
	c.setState(l.job, l.index, grid.Pending, fx)
	c.saveEntry(l.job, l.index, fx)
	c.retry(l)
	return true
}

// demotedBy reports whether that node has demoted the task.
func (l *liveTask) demotedBy(id grid.NodeID) bool {
	return slices.ContainsFunc(l.demotions, func(d demotion) bool { return d.node == id })
}

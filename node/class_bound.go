package node

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"skep/balance"
	"skep/exec"
	"skep/grid"
)

// A class of tasks may have a bound here: what runs longer was declared to be smaller than it is, and stands before tasks
// of its class that are. It is stopped, and its owner places it again as one of the next class, by which
// other nodes may be meant [4 of balance, sections 3.4 and 14: the bound theta of a class]. That is no loss. A task that is to run at most once is left alone.

// Bound is how long a task of a class may run on this node, and of what class it is if it takes longer.
type Bound struct {
	Class string
	Time  time.Duration // of running
	Next  string
}

// mostDemoted bounds how often a task changes its class, and mostNamed how many classes are kept that nobody submitted here: workers
// name them.
const (
	maxDemotions      = 4
	maxForeignClasses = 8
)

// demotion is a class that a task was of, and the node that said it has outgrown that.
type demotion struct {
	node  grid.NodeID
	class string
}

// checkBounds reports what is wrong with the bounds. One that leads back would have a task stopped for ever.
func (c *Config) checkBounds() error {
	var errs []error
	for i, b := range c.Bounds {
		if b.Class == "" || b.Next == "" || b.Class == b.Next || !isClass(b.Class) || !isClass(b.Next) || b.Time <= 0 {
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

// isClass reports whether a name may be told to others as that of a class.
func isClass(name string) bool { return len(name) <= grid.MaxClass && grid.Printable(name) }

// boundOf returns the bound of what runs here; nil = it has none.
func (n *Node) boundOf(w *exec.Work) *Bound {
	if w.Spec.Retries == 0 {
		return nil
	}
	k := slices.IndexFunc(n.cfg.Bounds, func(b Bound) bool { return b.Class == w.Class })
	if k < 0 {
		return nil
	}
	return &n.cfg.Bounds[k]
}

// stopOverBound stops what has run for too long, and sees to the next look. Without bounded work there is no such timer.
func (n *Node) stopOverBound(now grid.Time, fx *grid.Effects) {
	if len(n.cfg.Bounds) == 0 {
		return
	}
	next := grid.Never
	for _, w := range slices.Clone(n.exec.Running()) {
		b := n.boundOf(w)
		if b == nil {
			continue
		}
		if at := w.Started.Add(b.Time); now < at {
			next = min(next, at)
			continue
		}
		fx.Stops = append(fx.Stops, grid.Stop{Attempt: w.ID})
		n.keepResult(now, w.ID, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Wall: now.Sub(w.Started), Next: b.Next,
			Error: "it ran for longer than tasks of its class may here"}, true, fx)
	}
	if next < grid.Never && (n.boundWake <= now || next < n.boundWake) {
		n.boundWake = next
		fx.Wake(next, grid.TimerBound, 0)
	}
}

// mayDemoteTo reports whether a worker's word makes the task one of another class: of one that it was not of before, and not for ever.
// What is no such word is a loss like any other.
func (l *liveTask) mayDemoteTo(next string) bool {
	return next != "" && isClass(next) && next != l.class() && l.job.spec.Retries > 0 && len(l.demotions) < maxDemotions &&
		!slices.ContainsFunc(l.demotions, func(d demotion) bool { return d.class == next })
}

// demote places a task again as one of the class that its worker says it is of, and reports whether it was such a result. Only the
// worker knows whether that is true: so it is no delivery, others are preferred for the task, and it counts as a failure of its class there.
func (n *Node) demote(now grid.Time, l *liveTask, r *grid.Result, fx *grid.Effects) bool {
	if !l.mayDemoteTo(r.Next) {
		return false
	}
	worker, next := l.task().worker, n.rates.intern(r.Next)
	n.attemptReturned(now, &l.promise, worker, false)
	n.note(balance.Outcome{Kind: balance.Finished, At: now, Node: worker, Class: l.class()})
	n.recordFailure(now, l.class(), worker, false)
	l.demotions = append(l.demotions, demotion{worker, l.class()})
	l.demotedTo, l.request.Class = next, next
	n.rates.foreignArrival(now, l.job.spec, next)
	n.trace(l.task(), grid.Trace{At: now, What: grid.TraceDemoted, Node: worker, Refusal: grid.Refusal{Detail: next}})
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveTask(l.job, l.index, fx)
	n.retry(l)
	return true
}

// demotedBy reports whether a node has said that the task has outgrown its class.
func (l *liveTask) demotedBy(id grid.NodeID) bool {
	return slices.ContainsFunc(l.demotions, func(d demotion) bool { return d.node == id })
}

// foreignArrival counts the arrival of a task whose class a worker has named. Classes that are known only so give way to each
// other, and not what was measured.
func (r *rates) foreignArrival(now grid.Time, spec *grid.JobSpec, name string) {
	c := r.get(name)
	foreign := c == nil || c.foreign
	if c == nil {
		k := 0
		for _, c := range r.classes {
			if c.foreign {
				k++
			}
		}
		if k >= maxForeignClasses {
			r.evict(func(c *classRate) bool { return c.foreign })
		}
	}
	r.arrive(now, spec, name, 1)
	r.get(name).foreign = foreign
}

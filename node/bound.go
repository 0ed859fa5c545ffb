package node

import (
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

// mostDemoted bounds how often a task changes its class: nodes may contradict each other. Then it ends, for it would be stopped
// wherever it runs.
const mostDemoted = 4

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

// outgrown stops what has run for too long, and sees to the next look. Without bounded work there is no such timer.
func (n *Node) outgrown(now grid.Time, fx *grid.Effects) {
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
		n.ended(now, w.ID, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Wall: now.Sub(w.Started), Next: b.Next,
			Error: "it ran for longer than tasks of its class may here"}, fx)
	}
	if next < grid.Never && (n.boundAt <= now || next < n.boundAt) {
		n.boundAt = next
		fx.Wake(next, grid.TimerBound, 0)
	}
}

// demote places a task again as one of the class that its worker says it is of, and reports whether it was such a result.
func (n *Node) demote(now grid.Time, l *live, r *grid.Result, fx *grid.Effects) bool {
	if r.Next == "" || len(r.Next) > grid.MaxClass || r.Next == l.class() || l.job.spec.Retries == 0 {
		return false
	}
	n.returned(now, &l.word, l.t().worker, true)
	n.note(balance.Outcome{Kind: balance.Finished, At: now, Node: l.t().worker, Class: l.class()})
	if l.demoted == mostDemoted {
		n.end(now, l.job, l.index, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
			Error: clip(fmt.Sprintf("lost: %d nodes stopped it because it ran longer than tasks of its class may there, the last as one of class %s", mostDemoted+1, l.class()))}, fx)
		return true
	}
	l.grown, l.task.Class = r.Next, r.Next
	l.demoted++
	n.rates.arrive(now, l.job.spec, r.Next, 1)
	n.trace(l.t(), grid.Trace{At: now, What: grid.TraceDemoted, Node: l.t().worker, Refusal: grid.Refusal{Detail: r.Next}})
	n.setState(l.job, l.index, grid.Pending, fx)
	n.saveTask(l.job, l.index, fx)
	n.retry(l)
	return true
}

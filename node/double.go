package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// A job that is idempotent and placed by a policy with copies has second copies of its tasks begun once nothing of it is
// left to place: whenever something was said or has ended, of the tasks that were placed first.

// bags are the jobs that may get second copies: nothing of them is left to place.
type bags struct {
	jobs  []*job
	due   bool        // there is reason to look at them
	idler grid.NodeID // who has delivered a result in this step
}

// copier is the policy of a job that may have two copies of a task; nil = it may not.
func (n *Node) copier(j *job) balance.Copier {
	if !j.spec.Idempotent || j.spec.Retries == 0 {
		return nil
	}
	if p, ok := n.policyOf(j).(balance.Copier); ok && p.Copies() > 1 {
		return p
	}
	return nil
}

// asksIdle reports whether a job's policy keeps tasks until a node is idle: one of them looks for all.
func (n *Node) asksIdle(j *job) bool {
	_, ok := n.policyOf(j).(balance.Copier)
	return ok
}

// exhausted notes that no task of a job is left that was never looked at.
func (n *Node) exhausted(j *job) {
	if n.copier(j) != nil && !slices.Contains(n.bags.jobs, j) {
		n.bags.jobs = append(n.bags.jobs, j)
		n.bags.due = true
	}
}

// double begins second copies where there is reason to look.
func (n *Node) double(now grid.Time, fx *grid.Effects) {
	if n.bags.due {
		n.bags.due = false
		n.doubleAll(now, fx)
	}
	n.bags.idler = grid.NodeID{}
}

func (n *Node) doubleAll(now grid.Time, fx *grid.Effects) {
	n.bags.jobs = slices.DeleteFunc(n.bags.jobs, func(j *job) bool {
		if n.jobs.get(j.id) != j || !j.leads() || j.counts[grid.Ended] == j.count() {
			return true
		}
		if j.counts[grid.Pending] == 0 && n.acts(now, j) {
			n.doubleOf(now, j, fx)
		}
		return false
	})
}

// mostKeptBack bounds the tasks of a job for which nobody but their own node is idle, until the rest are not looked at.
const mostKeptBack = 8

func (n *Node) doubleOf(now grid.Time, j *job, fx *grid.Effects) {
	p, kept := n.copier(j), 0
	if p == nil {
		return
	}
	for j.oldest < j.spec.Count && j.state(j.oldest) == grid.Ended {
		j.oldest++
	}
	n.inform(now)
	n.columns(now)
	for i := j.oldest; i < j.spec.Count && kept < mostKeptBack; i++ {
		l := j.at(i).live
		if l == nil || l.phase != placed || l.twin != nil || l.single || l.result != nil {
			continue
		}
		l.asked = l.asked[:0]
		v := n.candidates(now, l)
		v.Nodes = slices.DeleteFunc(v.Nodes, func(s balance.State) bool { return s.Node == l.t().worker })
		if k := slices.IndexFunc(v.Nodes, func(s balance.State) bool { return s.Node == n.bags.idler }); k >= 0 {
			n.credit(l, &v.Nodes[k])
		}
		l.task.ID = l.id()
		tasks := append(n.scratch.tasks[:0], &l.task)
		choices := p.Assign(now, tasks, v.Nodes, n.scratch.choices[:0])
		n.scratch.tasks, n.scratch.choices = tasks, choices
		if choices[0].Act != balance.Place {
			kept++
			continue
		}
		kept = 0
		n.begins(now, l, choices[0], fx)
	}
}

// credit takes off what a node said of its work that it has delivered in this step: it could not know.
func (n *Node) credit(l *live, s *balance.State) {
	if done := n.expected(l.class()); s.Node != n.cfg.Self {
		s.Ready, s.ECT = max(s.Ready-done, 0), max(s.ECT-done, 0)
	}
}

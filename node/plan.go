package node

import (
	"skep/balance"
	"skep/grid"
)

// While the register of a new job forms, a place for its first task is looked for: what of that takes messages, and the commit of the
// attempt, go on beside the members' writes. Only the offer, or the start, waits for the majority.

// forms reports whether a job submitted here waits for its first majority, and its first task may be given a place meanwhile. Not one that is to run
// at most once: a crash before the offer would end it as lost. Nor where a policy places many at once.
func (n *Node) forms(j *job) bool {
	if j.guard == nil || !j.guard.forming || !j.guard.reg.Leads() || j.spec.Retries == 0 {
		return false
	}
	_, many := n.policyOf(j).(balance.Batch)
	return !many
}

// plans reports whether the first task of a job is to be given a place before a majority has the job.
func (n *Node) plans(j *job) bool {
	return j.next == 0 && j.state(0) == grid.Pending && j.at(0).live == nil && n.forms(j)
}

// plan keeps an attempt that is made until the register's majority has answered.
func (n *Node) plan(now grid.Time, l *live, ect float64, fx *grid.Effects) {
	l.planned, l.ect = true, ect
	l.lone, l.unproven, l.absent = true, false, false
	n.rest(now, l, n.cfg.Lease/3, fx)
}

// carryOut offers what was planned. A worker that has gone meanwhile has never heard of it.
func (n *Node) carryOut(now grid.Time, l *live, fx *grid.Effects) {
	l.planned = false
	if q := n.peers.get(l.t().worker); q == nil || !q.up {
		n.takeBack(now, l, grid.Refusal{Why: grid.WhyGone}, fx)
		return
	}
	l.t().placed, l.chosen = n.wall.At(now).UnixNano(), now
	n.setOut(now, &l.word)
	n.returned(now, &l.word, l.t().worker, false) // its time begins now
	n.entrusted(now, &l.word, l.class(), l.t().worker, l.ect)
	n.give(now, l, fx)
}

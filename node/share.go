package node

import (
	"slices"

	"skep/grid"
)

// Who is asked to copy what, by the owner of a job.

// share begins to see to it that a majority of the members has a job's inputs.
func (n *Node) share(now grid.Time, j *job) {
	if g := j.guard; len(j.spec.Inputs) > 0 {
		g.inputs = n.newCopies(now, j, j.spec.Inputs, n.hasInputs(j))
	}
}

// welcome answers who submitted a job when a majority has it, and its inputs.
func (n *Node) welcome(now grid.Time, j *job, fx *grid.Effects) {
	if g := j.guard; g.reg.Ready() && (g.inputs == nil || g.inputs.judge(now, g.reg)) {
		n.reply(&g.callers, j.id, fx)
	}
}

// deposit sees to it that a majority of the members has the files that a task left, and then records its end. They are
// here already.
func (n *Node) deposit(now grid.Time, l *live, r *grid.Result, fx *grid.Effects) {
	j, files := l.job, r.Blobs(nil)
	if j.guard == nil || len(files) == 0 {
		n.finish(now, l, r, fx)
		return
	}
	n.retain(j, l.index, l.t().attempt, r)
	if l.copies = n.newCopies(now, j, files, true); l.copies.large {
		n.finish(now, l, l.copies.remark(j, r), fx)
		return
	}
	l.result = r
	j.guard.leaves = append(j.guard.leaves, l)
	n.saveEntry(j, l.index, fx)
	n.tickIn(now, fx)
	for place := range j.guard.reg.Members() {
		n.askCopy(now, j, place, l.copies, l.id(), r, fx)
	}
}

// bequeath records a task's end if a majority has its files, or is not waited for any more.
func (n *Node) bequeath(now grid.Time, l *live, fx *grid.Effects) {
	j, c := l.job, l.copies
	if !c.judge(now, j.guard.reg) {
		return
	}
	j.guard.leaves = slices.DeleteFunc(j.guard.leaves, func(o *live) bool { return o == l })
	r := l.result
	if !c.enough(j.guard.reg) {
		r = c.remark(j, r)
	}
	n.finish(now, l, r, fx)
}

// attend asks again for what is not answered, and judges what has been waited for long enough.
func (n *Node) attend(now grid.Time, j *job, fx *grid.Effects) {
	n.askCopies(now, j, fx)
	if !j.guard.reg.Leads() {
		return
	}
	n.welcome(now, j, fx)
	for _, l := range slices.Clone(j.guard.leaves) {
		n.bequeath(now, l, fx)
	}
}

// askCopies asks members for what they have not said to have yet.
func (n *Node) askCopies(now grid.Time, j *job, fx *grid.Effects) {
	g := j.guard
	if !g.reg.Leads() || g.reg.State().Done || g.inputs == nil && len(g.leaves) == 0 {
		return
	}
	g.leaves = slices.DeleteFunc(g.leaves, func(l *live) bool { return !l.leaves() })
	for place := range g.reg.Members() {
		if g.inputs != nil {
			n.askCopy(now, j, place, g.inputs, inputsOf(j.id), nil, fx)
		}
		for _, l := range g.leaves {
			n.askCopy(now, j, place, l.copies, l.id(), l.result, fx)
		}
	}
}

// inputsOf stands for a job's inputs where an attempt stands for what it left.
func inputsOf(id grid.JobID) grid.AttemptID { return grid.AttemptID{Task: grid.TaskID{Job: id}} }

// leaves reports whether the files of a task's result are being copied still.
func (l *live) leaves() bool { return l.copies != nil && l.t().live == l }

// askCopy asks one member, if it is time to. An owner that is not the origin may lack the inputs itself.
func (n *Node) askCopy(now grid.Time, j *job, place int, c *copies, id grid.AttemptID, r *grid.Result, fx *grid.Effects) {
	g, bit, again := j.guard, uint8(1)<<place, n.cfg.Lease/3
	if c.no&bit != 0 {
		again = copyAgain
	}
	if c.large || c.have&bit != 0 || c.sent[place] != 0 && now < c.sent[place].Add(again) {
		return
	}
	to := g.reg.Members()[place]
	switch {
	case to == n.cfg.Self:
		c.sent[place] = now
		n.bringInputs(now, j, j.id.Origin, fx)
	case g.reg.Holds(place):
		c.sent[place] = now
		m := fx.Send(to, grid.KindCopy)
		m.Attempts, m.Result = append(m.Attempts, id), r
	}
}

// copied takes a member's answer.
func (n *Node) copied(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	id := m.Attempts[0]
	j := n.job(id.Task.Job)
	if n.outsider(j, from) {
		n.unasked(from, fx)
		return
	}
	if j == nil || j.guard == nil || !j.guard.reg.Leads() || j.guard.reg.Place(from) < 0 || id.Task.Index >= j.spec.Count {
		n.stats.Stale++
		return
	}
	c, l := j.guard.inputs, (*live)(nil)
	if id != inputsOf(j.id) {
		if l = j.at(id.Task.Index).live; l == nil || !l.leaves() || l.id() != id {
			n.stats.Stale++
			return
		}
		c = l.copies
	}
	if c == nil {
		n.stats.Stale++
		return
	}
	c.answer(j.guard.reg.Place(from), from, m.Refusal)
	if l != nil {
		n.bequeath(now, l, fx)
		return
	}
	n.welcome(now, j, fx)
}

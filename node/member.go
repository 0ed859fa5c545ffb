package node

import (
	"slices"
	"time"

	"skep/grid"
	"skep/register"
)

// The part of a member that is not the owner.

// written takes what the owner of an epoch wrote, and answers when it is on disk.
func (n *Node) written(now grid.Time, from grid.NodeID, g *grid.Guard, fx *grid.Effects) {
	j, no := n.guarded(now, from, g, fx)
	if j == nil {
		n.stats.Stale++
		n.answer(from, grid.KindGuarded, g, no, fx)
		return
	}
	if !j.guard.reg.State().Done && n.admitWrite(j, g, fx) != "" {
		n.stats.Full++
		n.answer(from, grid.KindGuarded, g, grid.GuardFull, fx)
		return
	}
	n.turn(now, g.Finals)
	r := j.guard.reg
	before, led := r.State(), r.Leads()
	answer, changed := r.Write(from, g, n.scratch.finals[:0])
	n.scratch.finals = changed
	after := r.State()
	if before != after {
		n.saveGuard(j, fx)
	}
	if answer == grid.GuardOK {
		n.resize(j)
		n.pair(from).heard = now
		j.guard.orphan, j.guard.wrote = false, now
		if led {
			n.stepDown(j, fx)
		}
		n.heed(now, j.id, g.Epoch, from, fx)
		for _, i := range changed {
			n.saveEntry(j, i, fx)
			n.accept(j, i, fx)
		}
		n.tickIn(now, fx)
	}
	if after.Done && !before.Done {
		n.over(now, j, fx)
	}
	n.answer(from, grid.KindGuarded, g, answer, fx)
}

// guarded returns the job with a register that somebody speaks of. It makes one that is not here yet, if who speaks must be a member, as this
// node must, and there is room for it; else it says why not.
func (n *Node) guarded(now grid.Time, from grid.NodeID, g *grid.Guard, fx *grid.Effects) (*job, grid.GuardAnswer) {
	j := n.job(g.Job)
	if j != nil && j.guard != nil && from == g.Job.Origin && !j.guard.sure && len(g.Members) > 0 {
		if j.guard.sure = slices.Equal(g.Members, j.guard.reg.Members()); !j.guard.sure {
			n.refute(j, fx)
			j = nil
		}
	}
	if j != nil && j.guard != nil {
		return j, grid.GuardOK
	} else if j != nil || g.Spec == nil || g.Spec.Check() != nil || !n.membership(g.Job, from, g.Members) ||
		!slices.Contains(g.Members, n.cfg.Self) || g.Job.Origin == n.cfg.Self {
		return nil, grid.GuardUnknown
	}
	if n.admitJob(g.Job, g.Spec, from, fx) != "" {
		n.stats.Full++
		return nil, grid.GuardFull
	}
	j = n.newGuard(g.Job, g.Spec, n.wall.At(now).UnixNano()-int64(g.Age), g.Members, register.State{})
	j.guard.sure = from == g.Job.Origin
	j.arrived = now.Add(-g.Age)
	n.keepFor(j, from)
	return j, grid.GuardOK
}

// membership reports whether a list of members can be that of a job, and somebody is among them.
func (n *Node) membership(id grid.JobID, who grid.NodeID, members []grid.NodeID) bool {
	if len(members) < 3 || len(members) > grid.MaxMembers || len(members)%2 == 0 || members[0] != id.Origin || !slices.Contains(members, who) {
		return false
	}
	for k := range members {
		if slices.Contains(members[:k], members[k]) {
			return false
		}
	}
	return true
}

// answer repeats what an answer is about.
func (n *Node) answer(to grid.NodeID, kind grid.Kind, g *grid.Guard, a grid.GuardAnswer, fx *grid.Effects) *grid.Guard {
	m := fx.Send(to, kind)
	m.Guard.Job, m.Guard.Epoch, m.Guard.Seq, m.Guard.Answer = g.Job, g.Epoch, g.Seq, a
	if j := n.job(g.Job); a == grid.GuardHigher && j != nil {
		m.Guard.Epoch = j.guard.reg.State().Promised
		if j.guard.epoch >= m.Guard.Epoch {
			m.Guard.Epoch, m.Guard.Owner = j.guard.epoch, j.guard.boss
		}
	}
	return &m.Guard
}

// accept makes the job say what its register holds of a task. What an earlier owner thought may be overruled.
func (n *Node) accept(j *job, i uint32, fx *grid.Effects) {
	if i >= j.spec.Count {
		j.cancelled, _ = j.guard.reg.Cancelled()
		return
	}
	f, final := j.guard.reg.Value(i)
	n.match(j, i, fx)
	t := j.task(i)
	if t.live != nil {
		n.drop(t.live)
	}
	if t.state != grid.Ended {
		n.setState(j, i, grid.Ended, fx)
		t.unsure = true
		j.unsure++
	}
	if !t.unsure {
		return
	}
	t.attempt, t.worker, t.lost, t.result, t.placed, t.began, t.done = f.Attempt, f.Worker, f.Lost, f.Result.Brief(), f.Placed, f.Began, f.Done
	t.held = t.worker == n.cfg.Self // what others hold they tell again
	if final {
		n.sure(j, i, fx)
	}
}

// over makes everything visible that is held of a job that has come to its end, and keeps it as long as others.
func (n *Node) over(now grid.Time, j *job, fx *grid.Effects) {
	n.reply(&j.guard.callers, j.id, fx)
	for i, t := range j.known() {
		if t.unsure {
			n.sure(j, i, fx)
		}
	}
	j.quiet = max(j.quiet, now.Add(wait(n.cfg.Lease))) // of who owned it
	n.clear(now, j, fx)
	n.keep(j, fx)
}

// clear lets go of attempts of a job that is over, as this node knows itself: whoever else could say so may be gone for good.
func (n *Node) clear(now grid.Time, j *job, fx *grid.Effects) {
	if n.posts[j.id] == nil {
		return
	}
	for _, w := range n.exec.Of(j.id, nil) {
		n.forget(now, w.ID, fx)
	}
}

// promise answers who wants to be the owner of a new epoch.
func (n *Node) promise(now grid.Time, from grid.NodeID, g *grid.Guard, fx *grid.Effects) {
	j, no := n.guarded(now, from, g, fx)
	if j == nil {
		n.answer(from, grid.KindPromised, g, no, fx)
		return
	}
	r := j.guard.reg
	before, led := r.State(), r.Leads()
	heard := now < n.lastHeard(j).Add(wait(n.cfg.Lease)) || n.acts(now, j)
	// Who has become the owner since, with the promises of others, lives as well, and no earlier owner acts any more.
	a := r.Promise(from, g.Epoch, heard && from != j.guard.boss && (from != j.guard.claim.owner || j.guard.claim.epoch <= j.guard.epoch))
	if led && !r.Leads() {
		n.stepDown(j, fx)
	}
	if r.State() != before {
		n.saveGuard(j, fx)
		// By chance, and over more than one look: two that promised each other the same epoch would else do so for ever.
		j.guard.due = now.Add(n.cfg.Lease + time.Duration(n.rng.Int64N(int64(n.cfg.Lease)*int64(1+n.rank(j)))))
		n.tickIn(now, fx)
	}
	m := n.answer(from, grid.KindPromised, g, a, fx)
	if a == grid.GuardOK || a == grid.GuardDone {
		m.Owner = r.State().Owner
		r.Page(g.Next, m)
		n.turn(now, m.Finals)
	}
	if a == grid.GuardDone && led {
		j.guard.told = 0
		n.tickIn(now, fx)
	}
}

// lastHeard is when this member last answered the owner that it follows. One that does not speak of the job may still rest on
// the answer to a write.
func (n *Node) lastHeard(j *job) grid.Time {
	switch {
	case j.guard.boss == n.cfg.Self:
		return 0
	case j.guard.orphan:
		return j.guard.wrote
	}
	return n.paired(j.guard.boss).heard
}

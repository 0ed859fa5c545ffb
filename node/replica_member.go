package node

import (
	"slices"
	"time"

	"skep/grid"
	"skep/register"
)

// The role of a member that is not the owner.

// applyWrite applies a write of an epoch's owner, and answers once it is on disk.
func (n *Node) applyWrite(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	j, refusal := n.replicaFor(now, from, g, fx)
	if j == nil {
		n.stats.Stale++
		n.answerRegister(from, grid.KindWriteAck, g, refusal, fx)
		return
	}
	if !j.replica.reg.State().Done && n.admitEntries(j, g.Entries, g.Epoch, fx) != "" {
		n.stats.Full++
		n.answerRegister(from, grid.KindWriteAck, g, grid.RegisterFull, fx)
		return
	}
	n.convertTimes(now, g.Entries)
	r := j.replica.reg
	before, wasOwner := r.State(), r.IsOwner()
	answer, changed := r.Write(from, g, n.scratch.finals[:0])
	n.scratch.finals = changed
	after := r.State()
	if before != after {
		n.saveReplica(j, fx)
	}
	if answer == grid.RegisterOK {
		n.rechargeJob(j)
		n.coMember(from).ownerAnswered = now
		j.replica.unlisted, j.replica.lastWrite = false, now
		if wasOwner {
			n.stepDown(j, fx)
		}
		n.learnOwner(now, j.id, g.Epoch, from, fx)
		for _, i := range changed {
			n.saveEntry(j, i, fx)
			n.applyEntry(j, i, fx)
		}
		n.scheduleTick(now, fx)
	}
	if after.Done && !before.Done {
		n.jobClosed(now, j, fx)
	}
	n.answerRegister(from, grid.KindWriteAck, g, answer, fx)
}

// replicaFor returns the job of a register message. A missing replica is created if this node and the sender must be
// members and there is quota left; else the answer says why not.
func (n *Node) replicaFor(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) (*job, grid.RegisterAnswer) {
	j := n.job(g.Job)
	if j != nil && j.replica != nil && from == g.Job.Origin && !j.replica.membersVerified && len(g.Members) > 0 {
		if j.replica.membersVerified = slices.Equal(g.Members, j.replica.reg.Members()); !j.replica.membersVerified {
			n.dropForgedReplica(j, fx)
			j = nil
		}
	}
	if j != nil && j.replica != nil {
		return j, grid.RegisterOK
	} else if j != nil || g.Spec == nil || g.Spec.Check() != nil || !n.validMembers(g.Job, from, g.Members) ||
		!slices.Contains(g.Members, n.cfg.Self) || g.Job.Origin == n.cfg.Self {
		return nil, grid.RegisterUnknown
	}
	if n.admitJob(g.Job, g.Spec, from, fx) != "" {
		n.stats.Full++
		return nil, grid.RegisterFull
	}
	j = n.newReplica(g.Job, g.Spec, n.wall.At(now).UnixNano()-int64(g.Age), g.Members, register.State{})
	j.replica.membersVerified = from == g.Job.Origin
	j.arrived = now.Add(-g.Age)
	n.chargeJob(j, from)
	return j, grid.RegisterOK
}

// validMembers reports whether a list can be the members of a job and contains who.
func (n *Node) validMembers(id grid.JobID, sender grid.NodeID, members []grid.NodeID) bool {
	if len(members) < 3 || len(members) > grid.MaxMembers || len(members)%2 == 0 || members[0] != id.Origin || !slices.Contains(members, sender) {
		return false
	}
	for k := range members {
		if slices.Contains(members[:k], members[k]) {
			return false
		}
	}
	return true
}

// answerRegister answers a register message. It repeats the job, epoch and sequence number that the answer is about.
func (n *Node) answerRegister(to grid.NodeID, kind grid.Kind, g *grid.RegisterMessage, a grid.RegisterAnswer, fx *grid.Effects) *grid.RegisterMessage {
	m := fx.Send(to, kind)
	m.Register.Job, m.Register.Epoch, m.Register.Seq, m.Register.Answer = g.Job, g.Epoch, g.Seq, a
	if j := n.job(g.Job); a == grid.RegisterHigher && j != nil {
		m.Register.Epoch = j.replica.reg.State().Promised
		if j.replica.epoch >= m.Register.Epoch {
			m.Register.Epoch, m.Register.Owner = j.replica.epoch, j.replica.owner
		}
	}
	return &m.Register
}

// applyEntry copies the register's entry of a task into the job. It may overrule what this node decided as an earlier
// owner.
func (n *Node) applyEntry(j *job, i uint32, fx *grid.Effects) {
	if i >= j.spec.Count {
		j.cancelled, _ = j.replica.reg.Cancelled()
		return
	}
	f, final := j.replica.reg.Value(i)
	n.matchDeposit(j, i, fx)
	t := j.task(i)
	if t.live != nil {
		n.dropLive(t.live)
	}
	if t.state != grid.Ended {
		n.setState(j, i, grid.Ended, fx)
		t.uncommitted = true
		j.uncommitted++
	}
	if !t.uncommitted {
		return
	}
	t.attempt, t.worker, t.lost, t.result, t.placed, t.began, t.done = f.Attempt, f.Worker, f.Lost, f.Result.Brief(), f.Placed, f.Began, f.Done
	t.heldByWorker = t.worker == n.cfg.Self // other workers report theirs again
	if final {
		n.publishEnd(j, i, fx)
	}
}

// jobClosed publishes every end that the register of a closed job holds, and archives the job.
func (n *Node) jobClosed(now grid.Time, j *job, fx *grid.Effects) {
	n.replyAll(&j.replica.submitters, j.id, fx)
	for i, t := range j.known() {
		if t.uncommitted {
			n.publishEnd(j, i, fx)
		}
	}
	j.quietAt = max(j.quietAt, now.Add(takeoverDelay(n.cfg.Lease))) // an earlier owner may still let attempts start
	n.forgetAttempts(now, j, fx)
	n.archiveAndTrim(j, fx)
}

// forgetAttempts forgets this node's attempts of a closed job: the other nodes that could tell it so may be gone for
// good.
func (n *Node) forgetAttempts(now grid.Time, j *job, fx *grid.Effects) {
	if n.ownerRecords[j.id] == nil {
		return
	}
	for _, w := range n.exec.Of(j.id, nil) {
		n.forgetAttempt(now, w.ID, fx)
	}
}

// vote answers a member that campaigns for a new epoch.
func (n *Node) vote(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	j, refusal := n.replicaFor(now, from, g, fx)
	if j == nil {
		n.answerRegister(from, grid.KindVote, g, refusal, fx)
		return
	}
	r := j.replica.reg
	before, wasOwner := r.State(), r.IsOwner()
	ownerAlive := now < n.ownerLastAnswered(j).Add(takeoverDelay(n.cfg.Lease)) || n.mayAct(now, j)
	// A node that became the owner since, with the votes of others, is alive as well, and no earlier owner acts any
	// more.
	a := r.Vote(from, g.Epoch, ownerAlive && from != j.replica.owner && (from != j.replica.rival.owner || j.replica.rival.epoch <= j.replica.epoch))
	if wasOwner && !r.IsOwner() {
		n.stepDown(j, fx)
	}
	if r.State() != before {
		n.saveReplica(j, fx)
		// Jitter over several ticks: two candidates that promised each other the same epoch would otherwise collide for
		// ever.
		j.replica.campaignAt = now.Add(n.cfg.Lease + time.Duration(n.rng.Int64N(int64(n.cfg.Lease)*int64(1+n.successionRank(j)))))
		n.scheduleTick(now, fx)
	}
	m := n.answerRegister(from, grid.KindVote, g, a, fx)
	if a == grid.RegisterOK || a == grid.RegisterDone {
		m.Owner = r.State().Owner
		r.Page(g.Next, m)
		n.convertTimes(now, m.Entries)
	}
	if a == grid.RegisterDone && wasOwner {
		j.replica.closeNotices = 0
		n.scheduleTick(now, fx)
	}
}

// ownerLastAnswered is when this member last answered the owner that it follows. An owner that no longer lists the job
// may still rest on the answer to a write.
func (n *Node) ownerLastAnswered(j *job) grid.Time {
	switch {
	case j.replica.owner == n.cfg.Self:
		return 0
	case j.replica.unlisted:
		return j.replica.lastWrite
	}
	return n.coMemberOrNone(j.replica.owner).ownerAnswered
}

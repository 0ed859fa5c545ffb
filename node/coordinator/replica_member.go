package coordinator

import (
	"cmp"
	"slices"

	"skep/grid"
	"skep/node/dependency"
	"skep/node/failures"
	"skep/node/quota"
)

// The role of a member that is not the owner.

// applyWrite applies a write of an epoch's owner, and answers once it is on disk.
func (c *Coordinator) applyWrite(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	j, refusal := c.replicaFor(now, from, g, fx)
	if j == nil {
		c.stats.Stale++
		c.replicas.Refuse(from, grid.KindWriteAck, g, refusal, fx)
		return
	}
	r := j.replica.Register
	if !possibleEntries(j.spec, g.Entries, g.Epoch) {
		c.stats.Stale++
		r.Answer(from, grid.KindWriteAck, g, grid.RegisterUnknown, fx)
		return
	}
	if !r.State().Done && c.admitEntries(j, g.Entries, g.Epoch, fx) != "" {
		c.stats.Full++
		r.Answer(from, grid.KindWriteAck, g, grid.RegisterFull, fx)
		return
	}
	answer := r.Write(now, from, g, fx)
	if answer == grid.RegisterOK {
		c.rechargeJob(j)
	}
	c.followRegisters(now, fx)
	if answer == grid.RegisterOK {
		c.scheduleTick(now, fx)
	}
	r.Answer(from, grid.KindWriteAck, g, answer, fx)
}

// possibleEntries reports whether an honest owner can have accepted these entries of a register: in an epoch, or with a
// vote (epoch 0) in their own. Others are no offence: a false member may have described the job falsely here.
func possibleEntries(s *grid.JobSpec, entries []grid.Entry, epoch uint32) bool {
	return !slices.ContainsFunc(entries, func(e grid.Entry) bool {
		return !failures.Possible(s, &e, cmp.Or(epoch, e.Epoch))
	})
}

// vote answers a member that campaigns for a new epoch.
func (c *Coordinator) vote(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	j, refusal := c.replicaFor(now, from, g, fx)
	if j == nil {
		c.replicas.Refuse(from, grid.KindVote, g, refusal, fx)
		return
	}
	j.replica.Vote(now, from, g, fx)
	c.followRegisters(now, fx)
	c.scheduleTick(now, fx)
}

// replicaFor returns the job of a register message. A missing replica is created if this node and the sender must be
// members and there is quota left; else the answer says why not.
func (c *Coordinator) replicaFor(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) (*job,
	grid.RegisterAnswer) {
	j := c.job(g.Job)
	if j != nil && from == g.Job.Origin && !j.replica.membersVerified && len(g.Members) > 0 {
		if j.replica.membersVerified = slices.Equal(g.Members, j.replica.First()); !j.replica.membersVerified {
			c.dropForgedReplica(now, j, fx)
			j = nil
		}
	}
	if j == nil {
		if answer, buried := c.replicas.BuriedFor(from, g, fx); buried {
			return nil, answer
		}
	}
	if j != nil && !j.replica.Sole() {
		if c.admitReopening(j, g) != "" {
			c.stats.Full++
			return nil, grid.RegisterFull
		}
		if g.Spec != nil { // the first write may have waited for this node longer than this one
			j.arrived = min(j.arrived, now.Add(-g.Age))
		}
		return j, grid.RegisterOK
	} else if j != nil || g.Spec == nil || g.Spec.Check() != nil || c.isOrigin(g.Job) ||
		!grid.ValidMembers(g.Job, g.Members) || !g.Keeps(from) || !g.Keeps(c.cfg.Self) {
		return nil, grid.RegisterUnknown
	}
	if !c.replicas.Admits(g) {
		c.countOffence(from, fx)
		return nil, grid.RegisterUnknown
	}
	if c.quota.MakeRoom(quota.PartiesOf(g.Job, from), quota.JobAmount(g.Spec), c, fx) != "" {
		c.stats.Full++
		return nil, grid.RegisterFull
	}
	j = c.newReplica(g.Job, g.Spec, c.wall.At(now).UnixNano()-int64(g.Age), g.Members,
		grid.RegisterState{Genesis: g.Genesis, Set: g.Set})
	j.replica.membersVerified = from == g.Job.Origin || g.Spec.Signed
	j.arrived = now.Add(-g.Age)
	c.chargeJob(j, from)
	return j, grid.RegisterOK
}

// applyEntry copies the register's entry of a task into the job. It may overrule what this node decided as an earlier
// owner.
func (c *Coordinator) applyEntry(j *job, i uint32, fx *grid.Effects) {
	if i >= j.spec.Count {
		j.cancelled, _ = j.replica.Cancelled()
		return
	}
	f, final := j.replica.Value(i)
	c.matchDeposit(j, i, fx)
	if f.Open() {
		c.applyOpen(j, i, f, fx)
		return
	}
	t := j.tasks.At(i)
	if t.Live != nil {
		c.dropLive(t.Live)
	}
	if t.Over() && t.Round != f.Round { // it was run again meanwhile
		c.reopen(j, i, fx)
	}
	if t.Round = f.Round; t.State() != grid.Ended {
		c.setState(j, i, grid.Ended, fx)
		j.tasks.Propose(i, f.Round)
	}
	if !t.Uncommitted() {
		return
	}
	t.Attempt, t.Worker, t.Lost, t.Result, t.Placed, t.Began, t.Done = f.Attempt, f.Worker, f.Lost, f.Result.Compact(),
		f.Placed, f.Began, f.Done
	t.Held = c.isHere(t.Worker) // other workers report theirs again
	if final {
		c.publishEnd(j, i, fx)
	}
}

// jobClosed publishes every end that the register of a closed job holds, and archives the job. A member that lies may
// have closed it without the ends of some tasks; these stay pending, and nothing of them counts any more.
func (c *Coordinator) jobClosed(now grid.Time, j *job, fx *grid.Effects) {
	c.replyAll(&j.replica.submitters, j.id, fx)
	j.replica.callers.RefuseRetries(j.id, fx)
	for i, t := range j.tasks.Known() {
		if t.Uncommitted() {
			c.publishEnd(j, i, fx)
		}
	}
	j.quietAt = max(j.quietAt, now.Add(c.cfg.TakeoverDelay)) // an earlier owner may still let attempts start
	c.changed(grid.JobChange{Kind: grid.JobOver, Job: j.id})
	c.archiveAndTrim(now, j, fx)
}

// KnownRegister is what this node knows, as a member, of the register of a job of which another node, which names these
// members, offers attempts.
func (c *Coordinator) KnownRegister(id grid.JobID, from grid.NodeID, members []grid.NodeID) grid.KnownRegister {
	j := c.peekJob(id)
	if j == nil && c.replicas.BuriedWith(id, members) {
		return grid.KnownRegister{Known: true, Closed: true, Verified: from == id.Origin}
	}
	if j == nil || j.replica.Sole() {
		return grid.KnownRegister{Verified: from == id.Origin}
	}
	r := j.replica
	owner, epoch, _ := r.Owner()
	return grid.KnownRegister{Known: true, Members: r.Members(), Changes: r.State().Set.Changes(), Owner: owner,
		Epoch: epoch, Closed: r.State().Done,
		Verified: from == id.Origin || r.membersVerified}
}

// dropForgedReplica forgets a replica that another node than the job's origin created here, and that the origin does
// not know.
func (c *Coordinator) dropForgedReplica(now grid.Time, j *job, fx *grid.Effects) {
	if j.replica.IsOwner() {
		j.replica.StepDown()
		c.followRegisters(now, fx)
	}
	at := c.archive.Find(j.id)
	c.forgetJob(j, fx)
	if at >= 0 {
		c.archive.Remove(c.cfg.Self, at)
	}
}

// awaitsCommit reports whether this node recorded the attempt's result as the owner and it is not yet committed.
func (j *job) awaitsCommit(id grid.AttemptID) bool {
	if id.Task.Index >= j.spec.Count {
		return false
	}
	t := j.at(id.Task.Index)
	recorded, committed := j.isRecorded(id)
	return t.Uncommitted() && t.Attempt == id.Attempt || recorded && !committed && j.replica.IsOwner()
}

// What a node that keeps a job tells those that wait for it.

// OutcomeOf implements [dependency.Jobs].
func (c *Coordinator) OutcomeOf(now grid.Time, id grid.JobID, asker grid.NodeID) (o dependency.Outcome, known,
	gone bool) {
	j := c.peekJob(id)
	if j == nil {
		return o, false, c.replicas.Buried(id)
	}
	rep := j.replica
	cancelled, _ := rep.Cancelled()
	return dependency.Outcome{Spec: j.spec, MayTell: rep.State().Done || c.mayAct(now, j),
		Over: j.tasks.Over() == j.count(), Exit: j.Exit,
		Cancelled: (cancelled || j.cancelled) && j.Exit != 0, Owner: j.ownerKnown(), Outsider: j.spec.Access() ==
			grid.AccessOwner && asker != id.Origin && !c.isHere(asker) && rep.Place(asker) < 0}, true, false
}

// EndOf implements [dependency.Jobs].
func (c *Coordinator) EndOf(id grid.TaskID) *grid.Result {
	j := c.peekJob(id.Job)
	if j == nil || id.Index >= j.spec.Count {
		return nil
	}
	if t := j.at(id.Index); t.Over() {
		return t.Result.Result()
	}
	return nil
}

// Ends returns what a job that is known here waits for, and the register that says how that has ended; nil = it is not.
func (c *Coordinator) Ends(id grid.JobID) (*grid.JobSpec, dependency.Ends) {
	j := c.peekJob(id)
	if j == nil {
		return nil, nil
	}
	return j.spec, j.replica
}

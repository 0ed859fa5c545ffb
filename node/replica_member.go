package node

import (
	"slices"

	"skep/grid"
	"skep/node/replication"
)

// The role of a member that is not the owner.

// applyWrite applies a write of an epoch's owner, and answers once it is on disk.
func (c *coordinator) applyWrite(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	j, refusal := c.replicaFor(now, from, g, fx)
	if j == nil {
		c.stats.Stale++
		c.replicas.Refuse(from, grid.KindWriteAck, g, refusal, fx)
		return
	}
	r := j.replica.Replica
	if !r.State().Done && c.admitEntries(j, g.Entries, g.Epoch, fx) != "" {
		c.stats.Full++
		replication.Answer(r, from, grid.KindWriteAck, g, grid.RegisterFull, fx)
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
	replication.Answer(r, from, grid.KindWriteAck, g, answer, fx)
}

// vote answers a member that campaigns for a new epoch.
func (c *coordinator) vote(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
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
func (c *coordinator) replicaFor(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) (*job, grid.RegisterAnswer) {
	j := c.job(g.Job)
	if j != nil && from == g.Job.Origin && !j.replica.MembersVerified && len(g.Members) > 0 {
		if j.replica.MembersVerified = slices.Equal(g.Members, j.replica.Members()); !j.replica.MembersVerified {
			c.dropForgedReplica(now, j, fx)
			j = nil
		}
	}
	if j == nil && c.replicas.BuriedFor(from, g, fx) {
		return nil, grid.RegisterGone
	}
	if j != nil && !j.replica.Sole() {
		return j, grid.RegisterOK
	} else if j != nil || g.Spec == nil || g.Spec.Check() != nil || !grid.ValidMembers(g.Job, from, g.Members) ||
		!slices.Contains(g.Members, c.cfg.Self) || g.Job.Origin == c.cfg.Self {
		return nil, grid.RegisterUnknown
	}
	if c.admitJob(g.Job, g.Spec, from, fx) != "" {
		c.stats.Full++
		return nil, grid.RegisterFull
	}
	j = c.newReplica(g.Job, g.Spec, c.wall.At(now).UnixNano()-int64(g.Age), g.Members, grid.RegisterState{})
	j.replica.MembersVerified = from == g.Job.Origin
	j.arrived = now.Add(-g.Age)
	c.chargeJob(j, from)
	return j, grid.RegisterOK
}

// applyEntry copies the register's entry of a task into the job. It may overrule what this node decided as an earlier
// owner.
func (c *coordinator) applyEntry(j *job, i uint32, fx *grid.Effects) {
	if i >= j.spec.Count {
		j.cancelled, _ = j.replica.Cancelled()
		return
	}
	f, final := j.replica.Value(i)
	c.matchDeposit(j, i, fx)
	t := j.task(i)
	if t.live != nil {
		c.dropLive(t.live)
	}
	if t.state != grid.Ended {
		c.setState(j, i, grid.Ended, fx)
		t.uncommitted = true
		j.uncommitted++
	}
	if !t.uncommitted {
		return
	}
	t.attempt, t.worker, t.lost, t.result, t.placed, t.began, t.done = f.Attempt, f.Worker, f.Lost, f.Result.Brief(), f.Placed, f.Began, f.Done
	t.heldByWorker = t.worker == c.cfg.Self // other workers report theirs again
	if final {
		c.publishEnd(j, i, fx)
	}
}

// jobClosed publishes every end that the register of a closed job holds, and archives the job.
func (c *coordinator) jobClosed(now grid.Time, j *job, fx *grid.Effects) {
	c.replyAll(&j.replica.submitters, j.id, fx)
	for i, t := range j.known() {
		if t.uncommitted {
			c.publishEnd(j, i, fx)
		}
	}
	j.quietAt = max(j.quietAt, now.Add(replication.TakeoverDelay(c.cfg.Lease))) // an earlier owner may still let attempts start
	c.worker.ForgetRegistered(j.id, fx)
	c.archiveAndTrim(j, fx)
}

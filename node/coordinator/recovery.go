package coordinator

import (
	"fmt"

	"skep/grid"
)

// Registers whose records are damaged here: the other members tell them again (package replication).

// memberMessage takes a write, a campaign or a vote. Those about a register of which records are lost, here or at the
// sender, go to those that recover it.
func (c *Coordinator) memberMessage(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch g := &m.Register; {
	case m.Kind == grid.KindWrite && c.replicas.RefuseLost(now, from, grid.KindWriteAck, g, fx),
		m.Kind == grid.KindCampaign && c.replicas.RefuseLost(now, from, grid.KindVote, g, fx):
		c.scheduleTick(now, fx)
	case m.Kind == grid.KindVote && c.replicas.Recalled(now, from, g, fx):
		c.recovered(now, g.Job, fx)
	case m.Kind == grid.KindCampaign && g.Recall:
		c.answerRecall(now, from, g, fx)
	case m.Kind == grid.KindWrite:
		c.applyWrite(now, from, g, fx)
	case m.Kind == grid.KindCampaign:
		c.vote(now, from, g, fx)
	default:
		c.voteAnswered(now, from, g, fx)
	}
}

// recallLost asks the other members of registers that are lost here.
func (c *Coordinator) recallLost(now grid.Time, fx *grid.Effects) {
	if c.replicas.AnyLost() {
		c.replicas.Recall(func(job grid.JobID, id grid.NodeID) bool { return c.peers.Reach(now, job, id, fx) }, fx)
	}
}

// checkLost returns an error if a job was submitted before and nothing of it may be said.
func (c *Coordinator) checkLost(id grid.JobID) error {
	if !c.replicas.Lost(id) {
		return nil
	}
	return fmt.Errorf("job %s: was submitted before, and its records are damaged on the disk of this node", id.Short())
}

// answerRecall answers a member that has lost its register.
func (c *Coordinator) answerRecall(now grid.Time, from grid.NodeID, g *grid.RegisterMessage, fx *grid.Effects) {
	switch j := c.job(g.Job); {
	case j != nil && !j.replica.Sole():
		j.replica.AnswerRecall(now, from, g, fx)
	case j == nil && c.replicas.BuriedWith(g.Job, g.Members):
		c.replicas.Refuse(from, grid.KindVote, g, grid.RegisterGone, fx)
	default:
		c.replicas.Refuse(from, grid.KindVote, g, grid.RegisterUnknown, fx)
	}
}

// recovered takes part, as after a restart, in a register that was lost here and that the other members have told.
func (c *Coordinator) recovered(now grid.Time, id grid.JobID, fx *grid.Effects) {
	rec, entries := c.replicas.TakeRecovered(now, id, fx)
	if rec == nil {
		return
	}
	c.RestoreRegister(rec)
	for i := range entries {
		c.RestoreEntry(&entries[i])
	}
	j := c.job(id)
	j.arrived = now - grid.Time(max(c.wall.At(now).UnixNano()-j.submitted, 0))
	j.quietAt = now.Add(c.cfg.TakeoverDelay)
	if j.replica.State().Done {
		c.changed(grid.JobChange{Kind: grid.JobOver, Job: id})
		c.archiveAndTrim(j, fx)
		return
	}
	c.resumeReplica(now, j, fx)
	c.watchDeadline(now, j, fx)
	c.LearnOwner(now, id, rec.Epoch, rec.Owner, fx)
}

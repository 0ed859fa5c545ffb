package node

import "skep/grid"

// stampOf returns the newest stamp that a worker sent; 0 = none. This node's own is always new.
func (c *coordinator) stampOf(now grid.Time, worker grid.NodeID) uint64 {
	if worker == c.cfg.Self {
		return c.worker.Stamp(now)
	}
	if q := c.peers.get(worker); q != nil {
		return q.stamp
	}
	return 0
}

// grantStartLease answers a worker's request: it names the attempts that are live. The request also counts as a beat.
func (c *coordinator) grantStartLease(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	c.beatReceived(now, from, m.Attempts, fx)
	if q := c.peers.get(from); q != nil {
		q.stamp = max(q.stamp, m.Register.Seq)
	}
	var a *grid.Message
	for _, id := range m.Attempts {
		l, isSecond := c.currentAttempt(from, id), false
		if l == nil {
			l = c.backupOf(from, id)
			isSecond = l != nil
		}
		if l == nil || !isSecond && l.phase != placed || l.job.cancelled {
			continue
		}
		if !c.mayAct(now, l.job) {
			l.job.replica.leasesDenied = true
			c.awaitMajority(l.job)
			continue
		}
		if a == nil {
			a = fx.Send(from, grid.KindStartLeaseAck)
			a.Register.Seq = m.Register.Seq
		}
		a.Attempts = append(a.Attempts, id)
	}
}

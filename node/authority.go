package node

import "skep/grid"

// Authority returns the node to ask about a job, and since when in wall time that node owns it. It is this node if it
// owns the job, knows the end, or is a member whose owner is not connected or has evicted the job; else the owner known
// here. For a job with which this node has nothing to do it is the origin while that is connected, else the newest
// claimant. False: nothing is known here; ask the origin.
func (c *coordinator) Authority(id grid.JobID) (who grid.NodeID, since int64, known bool) {
	if j := c.peekJob(id); j != nil {
		if j.authoritative() {
			return c.cfg.Self, 0, true
		}
		owner, _, since := j.replica.Owner()
		if q := c.peers.get(owner); q != nil && q.up && !j.replica.AwaitsOutcome() {
			return owner, since, true
		}
		return c.cfg.Self, 0, true
	}
	claimants := c.ownerCache.claimantsOf(id)
	switch {
	case len(claimants) == 0:
		return grid.NodeID{}, 0, false
	case c.isConnected(id.Origin):
		return id.Origin, 0, true
	}
	return claimants[0].Node, claimants[0].Since, true
}

// Claimants appends the nodes that announced to have taken over a job with which this node has nothing to do, newest
// epoch first. Ask them after the origin: any member of the grid can claim so.
func (c *coordinator) Claimants(id grid.JobID, dst []grid.NodeID) []grid.NodeID {
	if claimants := c.ownerCache.claimantsOf(id); len(claimants) > 0 && c.peekJob(id) == nil {
		for _, x := range claimants {
			dst = append(dst, x.Node)
		}
	}
	return dst
}

// ForeignJobs appends the jobs submitted elsewhere whose owner this node knows.
func (c *coordinator) ForeignJobs(dst []grid.JobID) []grid.JobID {
	for _, r := range c.replicas.Open() {
		if id := r.Job(); id.Origin != c.cfg.Self {
			dst = append(dst, id)
		}
	}
	for id := range c.ownerCache.jobs() {
		if c.peekJob(id) == nil {
			dst = append(dst, id)
		}
	}
	return dst
}

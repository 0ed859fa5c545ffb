package node

import "skep/grid"

// Authority returns the node to ask about a job, and since when in wall time that node owns it. It is this node if it
// owns the job, knows the end, or is a member whose owner is not connected or has evicted the job; else the owner known
// here. For a job with which this node has nothing to do it is the origin while that is connected, else the newest
// claimant. False: nothing is known here; ask the origin.
func (n *Node) Authority(id grid.JobID) (who grid.NodeID, since int64, known bool) {
	if j := n.peekJob(id); j != nil {
		if j.authoritative() {
			return n.cfg.Self, 0, true
		}
		owner, _, since := j.replica.Owner()
		if q := n.peers.get(owner); q != nil && q.up && !j.replica.AwaitsOutcome() {
			return owner, since, true
		}
		return n.cfg.Self, 0, true
	}
	claimants := n.ownerCache.Claimants(id)
	switch {
	case len(claimants) == 0:
		return grid.NodeID{}, 0, false
	case n.isConnected(id.Origin):
		return id.Origin, 0, true
	}
	return claimants[0].Node, claimants[0].Since, true
}

// Claimants appends the nodes that announced to have taken over a job with which this node has nothing to do, newest
// epoch first. Ask them after the origin: any member of the grid can claim so.
func (n *Node) Claimants(id grid.JobID, dst []grid.NodeID) []grid.NodeID {
	if claimants := n.ownerCache.Claimants(id); len(claimants) > 0 && n.peekJob(id) == nil {
		for _, c := range claimants {
			dst = append(dst, c.Node)
		}
	}
	return dst
}

// ForeignJobs appends the jobs submitted elsewhere whose owner this node knows.
func (n *Node) ForeignJobs(dst []grid.JobID) []grid.JobID {
	for _, r := range n.replicas.Open() {
		if id := r.Job(); id.Origin != n.cfg.Self {
			dst = append(dst, id)
		}
	}
	for id := range n.ownerCache.Jobs() {
		if n.peekJob(id) == nil {
			dst = append(dst, id)
		}
	}
	return dst
}

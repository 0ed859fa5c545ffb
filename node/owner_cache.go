package node

import (
	"slices"

	"skep/grid"
)

// cachedOwner lists the nodes that announced to have taken over a job with which this node has nothing to do. It serves
// clients that ask this node about the job.
type cachedOwner struct {
	id        grid.JobID
	claimants []claimant
}

// claimant is a node that announced to have taken a job over.
type claimant struct {
	node  grid.NodeID
	epoch uint32
	since int64 // wall time, Unix nanoseconds
}

func (c *cachedOwner) key() grid.JobID { return c.id }

// ownerCache holds the newest announced takeovers, at most maxCachedOwners jobs in FIFO order.
type ownerCache struct {
	ring []*cachedOwner // in order of arrival; once full, a ring whose oldest entry is at next
	next int
	by   lookup[grid.JobID, *cachedOwner]
}

const (
	maxCachedOwners = 4096
	maxClaimants    = 4 // of one job
)

// add records a takeover. An announcement proves nothing: clients ask the claimant only after the job's origin, and
// older claimants after it.
func (c *ownerCache) add(id grid.JobID, x claimant) {
	if old := c.by.get(id); old != nil {
		old.add(x)
		return
	}
	entry := &cachedOwner{id: id, claimants: []claimant{x}}
	c.by.put(entry)
	if len(c.ring) < maxCachedOwners {
		c.ring = append(c.ring, entry)
		return
	}
	c.by.drop(c.ring[c.next].id)
	c.ring[c.next] = entry
	c.next = (c.next + 1) % maxCachedOwners
}

// add records a claimant's newest epoch; claimants of the oldest epochs are dropped.
func (c *cachedOwner) add(x claimant) {
	if i := slices.IndexFunc(c.claimants, func(o claimant) bool { return o.node == x.node }); i >= 0 {
		if c.claimants[i].epoch >= x.epoch {
			return
		}
		c.claimants = slices.Delete(c.claimants, i, i+1)
	}
	at := slices.IndexFunc(c.claimants, func(o claimant) bool { return o.epoch < x.epoch })
	if at < 0 {
		at = len(c.claimants)
	}
	c.claimants = slices.Insert(c.claimants, at, x)
	c.claimants = c.claimants[:min(len(c.claimants), maxClaimants)]
}

// Authority returns the node to ask about a job, and since when in wall time that node owns it. It is this node if it
// owns the job, knows the end, or is a member whose owner is not connected; else the owner known here. For a job with
// which this node has nothing to do it is the origin while that is connected, else the newest claimant. False: nothing
// is known here; ask the origin.
func (n *Node) Authority(id grid.JobID) (who grid.NodeID, since int64, known bool) {
	if j := n.peekJob(id); j != nil {
		if j.authoritative() {
			return n.cfg.Self, 0, true
		}
		if q := n.peers.get(j.replica.owner); q != nil && q.up {
			return j.replica.owner, j.replica.ownerSince, true
		}
		return n.cfg.Self, 0, true
	}
	c := n.ownerCache.by.get(id)
	switch {
	case c == nil:
		return grid.NodeID{}, 0, false
	case n.isConnected(id.Origin):
		return id.Origin, 0, true
	}
	return c.claimants[0].node, c.claimants[0].since, true
}

// Claimants appends the nodes that announced to have taken over a job with which this node has nothing to do, newest
// epoch first. Ask them after the origin: any member of the grid can claim so.
func (n *Node) Claimants(id grid.JobID, dst []grid.NodeID) []grid.NodeID {
	if c := n.ownerCache.by.get(id); c != nil && n.peekJob(id) == nil {
		for _, x := range c.claimants {
			dst = append(dst, x.node)
		}
	}
	return dst
}

// ForeignJobs appends the jobs submitted elsewhere whose owner this node knows.
func (n *Node) ForeignJobs(dst []grid.JobID) []grid.JobID {
	for _, j := range n.replicas {
		if j.id.Origin != n.cfg.Self {
			dst = append(dst, j.id)
		}
	}
	for _, c := range n.ownerCache.ring {
		if n.peekJob(c.id) == nil {
			dst = append(dst, c.id)
		}
	}
	return dst
}

package node

import (
	"slices"

	"skep/grid"
)

// cachedOwner lists the nodes that announced to have taken over a job with which this node has nothing to do. It serves
// clients that ask this node about the job.
type cachedOwner struct {
	id        grid.JobID
	arrival   uint64     // place in the order of arrival
	claimants []claimant // newest epoch first
}

// claimant is a node that announced to have taken a job over.
type claimant struct {
	node  grid.NodeID
	epoch uint32
	since int64 // wall time, Unix nanoseconds
}

func (c *cachedOwner) key() grid.JobID { return c.id }

// ownerCache holds the newest announced takeovers. Any member can announce, so each is the newest claimant of a bounded
// number of jobs: one cannot evict what others announced.
type ownerCache struct {
	entries []*cachedOwner // in no order
	last    uint64         // arrivals so far
	by      lookup[grid.JobID, *cachedOwner]
}

const (
	maxCachedOwners = 4096
	maxCachedByOne  = 1024 // jobs with the same newest claimant
	maxClaimants    = 4    // of one job
)

// add records a takeover. An announcement proves nothing: clients ask the claimant only after the job's origin, and
// older claimants after it.
func (c *ownerCache) add(id grid.JobID, x claimant) {
	if old := c.by.get(id); old != nil {
		old.add(x)
		return
	}
	c.last++
	entry := &cachedOwner{id: id, arrival: c.last, claimants: []claimant{x}}
	all, own := -1, -1 // places of the oldest of all, and of this claimant
	count := 0
	for at, e := range c.entries {
		if all < 0 || e.arrival < c.entries[all].arrival {
			all = at
		}
		if e.claimants[0].node == x.node {
			if count++; own < 0 || e.arrival < c.entries[own].arrival {
				own = at
			}
		}
	}
	c.by.put(entry)
	switch {
	case count >= maxCachedByOne:
		c.replace(own, entry)
	case len(c.entries) >= maxCachedOwners:
		c.replace(all, entry)
	default:
		c.entries = append(c.entries, entry)
	}
}

func (c *ownerCache) replace(at int, entry *cachedOwner) {
	c.by.drop(c.entries[at].id)
	c.entries[at] = entry
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
	for _, c := range n.ownerCache.entries {
		if n.peekJob(c.id) == nil {
			dst = append(dst, c.id)
		}
	}
	return dst
}

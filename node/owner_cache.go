package node

import (
	"slices"

	"skep/grid"
)

// cachedOwner is who says that it has taken a job over that this node has nothing to do with, for whoever asks this node about the job.
type cachedOwner struct {
	id        grid.JobID
	claimants []claimant // newest epoch first
}

// claimant is a node that says so.
type claimant struct {
	node  grid.NodeID
	epoch uint32
	since int64 // wall time
}

func (h *cachedOwner) key() grid.JobID { return h.id }

// ownerCache are the newest takeovers.
type ownerCache struct {
	ring []*cachedOwner // in the order in which they came, from next on where there are as many as there may be
	next int
	by   lookup[grid.JobID, *cachedOwner]
}

const (
	maxCachedOwners = 4096
	maxClaimants    = 4 // of one job
)

// add notes a takeover. That it is announced proves nothing: it is asked only after the job's origin, and the others after it.
func (h *ownerCache) add(id grid.JobID, x claimant) {
	if old := h.by.get(id); old != nil {
		old.add(x)
		return
	}
	n := &cachedOwner{id: id, claimants: []claimant{x}}
	h.by.put(n)
	if len(h.ring) < maxCachedOwners {
		h.ring = append(h.ring, n)
		return
	}
	h.by.drop(h.ring[h.next].id)
	h.ring[h.next] = n
	h.next = (h.next + 1) % maxCachedOwners
}

// add takes a node's newest word; those of the oldest epochs go.
func (h *cachedOwner) add(x claimant) {
	if i := slices.IndexFunc(h.claimants, func(o claimant) bool { return o.node == x.node }); i >= 0 {
		if h.claimants[i].epoch >= x.epoch {
			return
		}
		h.claimants = slices.Delete(h.claimants, i, i+1)
	}
	at := slices.IndexFunc(h.claimants, func(o claimant) bool { return o.epoch < x.epoch })
	if at < 0 {
		at = len(h.claimants)
	}
	h.claimants = slices.Insert(h.claimants, at, x)
	h.claimants = h.claimants[:min(len(h.claimants), maxClaimants)]
}

// Authority returns the node that is to be asked about a job: this one if it brings the job to its end, knows the end, or is a
// member of its register whose owner is not connected; else the owner as far as is known here, and since when in wall time. Of a job
// with which this node has nothing to do that is the origin while it is connected. False if nothing is known here: then it is the
// job's origin, too.
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
	h := n.ownerCache.by.get(id)
	switch {
	case h == nil:
		return grid.NodeID{}, 0, false
	case n.isConnected(id.Origin):
		return id.Origin, 0, true
	}
	return h.claimants[0].node, h.claimants[0].since, true
}

// Claimants appends the nodes that say to have taken a job over with which this node has nothing to do, the newest epoch first. They are to
// be asked after its origin: any member can say so.
func (n *Node) Claimants(id grid.JobID, dst []grid.NodeID) []grid.NodeID {
	if h := n.ownerCache.by.get(id); h != nil && n.peekJob(id) == nil {
		for _, x := range h.claimants {
			dst = append(dst, x.node)
		}
	}
	return dst
}

// ForeignJobs appends the jobs submitted elsewhere of which this node knows who brings them to their end.
func (n *Node) ForeignJobs(dst []grid.JobID) []grid.JobID {
	for _, j := range n.replicas {
		if j.id.Origin != n.cfg.Self {
			dst = append(dst, j.id)
		}
	}
	for _, h := range n.ownerCache.ring {
		if n.peekJob(h.id) == nil {
			dst = append(dst, h.id)
		}
	}
	return dst
}

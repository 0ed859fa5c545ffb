package node

import (
	"slices"

	"skep/grid"
)

// hint is who says that it has taken a job over that this node has nothing to do with, for whoever asks this node about the job.
type hint struct {
	id    grid.JobID
	heirs []heir // newest epoch first
}

// heir is a node that says so.
type heir struct {
	node  grid.NodeID
	epoch uint32
	since int64 // wall time
}

func (h *hint) key() grid.JobID { return h.id }

// hints are the newest takeovers.
type hints struct {
	known []*hint // in the order in which they came, from next on where there are as many as there may be
	next  int
	by    lookup[grid.JobID, *hint]
}

const (
	maxHints = 4096
	maxHeirs = 4 // of one job
)

// add notes a takeover. That it is announced proves nothing: it is asked only after the job's origin, and the others after it.
func (h *hints) add(id grid.JobID, x heir) {
	if old := h.by.get(id); old != nil {
		old.add(x)
		return
	}
	n := &hint{id: id, heirs: []heir{x}}
	h.by.put(n)
	if len(h.known) < maxHints {
		h.known = append(h.known, n)
		return
	}
	h.by.drop(h.known[h.next].id)
	h.known[h.next] = n
	h.next = (h.next + 1) % maxHints
}

// add takes a node's newest word; those of the oldest epochs go.
func (h *hint) add(x heir) {
	if i := slices.IndexFunc(h.heirs, func(o heir) bool { return o.node == x.node }); i >= 0 {
		if h.heirs[i].epoch >= x.epoch {
			return
		}
		h.heirs = slices.Delete(h.heirs, i, i+1)
	}
	at := slices.IndexFunc(h.heirs, func(o heir) bool { return o.epoch < x.epoch })
	if at < 0 {
		at = len(h.heirs)
	}
	h.heirs = slices.Insert(h.heirs, at, x)
	h.heirs = h.heirs[:min(len(h.heirs), maxHeirs)]
}

// Keeper returns the node that is to be asked about a job: this one if it brings the job to its end, knows the end, or is a
// member of its register whose owner is not connected; else the owner as far as is known here, and since when in wall time. Of a job
// with which this node has nothing to do that is the origin while it is connected. False if nothing is known here: then it is the
// job's origin, too.
func (n *Node) Keeper(id grid.JobID) (who grid.NodeID, since int64, known bool) {
	if j := n.look(id); j != nil {
		if j.leads() {
			return n.cfg.Self, 0, true
		}
		if q := n.peers.get(j.guard.boss); q != nil && q.up {
			return j.guard.boss, j.guard.since, true
		}
		return n.cfg.Self, 0, true
	}
	h := n.hints.by.get(id)
	switch {
	case h == nil:
		return grid.NodeID{}, 0, false
	case n.reaches(id.Origin):
		return id.Origin, 0, true
	}
	return h.heirs[0].node, h.heirs[0].since, true
}

// Heirs appends the nodes that say to have taken a job over with which this node has nothing to do, the newest epoch first. They are to
// be asked after its origin: any member can say so.
func (n *Node) Heirs(id grid.JobID, dst []grid.NodeID) []grid.NodeID {
	if h := n.hints.by.get(id); h != nil && n.look(id) == nil {
		for _, x := range h.heirs {
			dst = append(dst, x.node)
		}
	}
	return dst
}

// Foreign appends the jobs submitted elsewhere of which this node knows who brings them to their end.
func (n *Node) Foreign(dst []grid.JobID) []grid.JobID {
	for _, j := range n.guards {
		if j.id.Origin != n.cfg.Self {
			dst = append(dst, j.id)
		}
	}
	for _, h := range n.hints.known {
		if n.look(h.id) == nil {
			dst = append(dst, h.id)
		}
	}
	return dst
}

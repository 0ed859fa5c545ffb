package node

import "skep/grid"

// hint is who has taken a job over that this node has nothing to do with, for whoever asks this node about the job.
type hint struct {
	id    grid.JobID
	epoch uint32
	owner grid.NodeID
	since int64 // wall time
}

func (h *hint) key() grid.JobID { return h.id }

// hints are the newest takeovers.
type hints struct {
	known []*hint // in the order in which they came, from next on where there are as many as there may be
	next  int
	by    lookup[grid.JobID, *hint]
}

const maxHints = 4096

// add notes a takeover. That it is announced proves nothing: whoever is asked because of it says what it knows.
func (h *hints) add(x hint) {
	if old := h.by.get(x.id); old != nil {
		if old.epoch < x.epoch {
			*old = x
		}
		return
	}
	if len(h.known) < maxHints {
		h.known = append(h.known, &x)
		h.by.put(&x)
		return
	}
	h.by.drop(h.known[h.next].id)
	h.known[h.next] = &x
	h.by.put(&x)
	h.next = (h.next + 1) % maxHints
}

// Keeper returns the node that is to be asked about a job: this one if it brings the job to its end, knows the end, or is a
// member of its register whose owner is not connected; else the owner as far as is known here, and since when in wall time. False
// if nothing is known here: then it is the job's origin.
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
	if h := n.hints.by.get(id); h != nil {
		return h.owner, h.since, true
	}
	return grid.NodeID{}, 0, false
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

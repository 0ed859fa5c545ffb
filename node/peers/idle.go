package peers

import (
	"slices"

	"skep/grid"
)

// Which connected nodes have work that waits, and which have room for some: by their ads, for package pull.

// pulls are the kinds that a peer must understand to pull tasks, and to have them pulled.
const pulls = grid.KindSet(1<<grid.KindWaiting | 1<<grid.KindPull)

// noteLoad keeps the lists of the nodes where work waits and of those with room.
func (p *Peers) noteLoad(q *peer, ad *grid.Ad) {
	here := q.up && q.pulls && ad != nil
	p.waiting = withNode(p.waiting, q.id, here && ad.Waiting)
	p.roomy = withNode(p.roomy, q.id, here && q.takesWork && !ad.Waiting && ad.Backlog <= 0 && ad.Free.CPU > 0 &&
		!ad.Closed())
}

// withNode returns the sorted list with or without a node.
func withNode(list []grid.NodeID, id grid.NodeID, in bool) []grid.NodeID {
	at, found := slices.BinarySearchFunc(list, id, grid.NodeID.Compare)
	switch {
	case in && !found:
		return slices.Insert(list, at, id)
	case !in && found:
		return slices.Delete(list, at, at+1)
	}
	return list
}

// WhereWorkWaits are the connected nodes whose ads say that work waits there; read only.
func (p *Peers) WhereWorkWaits() []grid.NodeID { return p.waiting }

// WithRoom are the connected nodes that have free resources and no backlog, by their ads; read only.
func (p *Peers) WithRoom() []grid.NodeID { return p.roomy }

// Pulls reports whether a node understands that a task was pulled.
func (p *Peers) Pulls(id grid.NodeID) bool {
	q := p.set.get(id)
	return id == p.cfg.Self || q != nil && q.up && q.pulls
}

// Free is what a node's ad says that it has free.
func (p *Peers) Free(id grid.NodeID) grid.Resources {
	if g := p.cfg.Gossip.Peer(id); g != nil && g.Ad != nil {
		return g.Ad.Free
	}
	return grid.Resources{}
}

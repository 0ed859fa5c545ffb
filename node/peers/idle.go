package peers

import (
	"slices"

	"skep/grid"
)

// Which connected nodes have work that waits, and which have room for some: by their ads, for package pull.

// pullKinds are the kinds that a peer must understand to pull tasks, and to have them pulled.
const pullKinds = grid.KindSet(1<<grid.KindWaiting | 1<<grid.KindPull | 1<<grid.KindNoWork)

// noteLoad keeps the lists of the nodes where work waits and of those with room.
func (p *Peers) noteLoad(q *peer, ad *grid.Ad) {
	here := q.up && q.can.has(pulls) && ad != nil
	p.waiting = withPeer(p.waiting, q, here && ad.Waiting)
	p.roomy = withPeer(p.roomy, q, here && q.can.has(takesWork) && !ad.Waiting && ad.Backlog <= 0 && ad.Free.CPU > 0 &&
		!ad.Closed())
}

// withPeer returns the sorted list with or without a peer.
func withPeer(list []*peer, q *peer, in bool) []*peer {
	at, found := slices.BinarySearchFunc(list, q, func(x, q *peer) int { return x.id.Compare(q.id) })
	switch {
	case in && !found:
		return slices.Insert(grid.Room(list, minGrowth), at, q)
	case !in && found:
		return slices.Delete(list, at, at+1)
	}
	return list
}

// identities puts the identities of peers into dst.
func identities(list []*peer, dst []grid.NodeID) []grid.NodeID {
	dst = dst[:0]
	for _, q := range list {
		dst = append(dst, q.id)
	}
	return dst
}

// WhereWorkWaits are the connected nodes whose ads say that work waits there; read only, valid until the next call.
func (p *Peers) WhereWorkWaits() []grid.NodeID {
	p.cfg.Scratch.waiting = identities(p.waiting, p.cfg.Scratch.waiting)
	return p.cfg.Scratch.waiting
}

// WithRoom are the connected nodes that have free resources and no backlog, by their ads; read only, valid until the
// next call.
func (p *Peers) WithRoom() []grid.NodeID {
	p.cfg.Scratch.roomy = identities(p.roomy, p.cfg.Scratch.roomy)
	return p.cfg.Scratch.roomy
}

// Pulls reports whether a node understands that a task was pulled.
func (p *Peers) Pulls(id grid.NodeID) bool {
	q := p.get(id)
	return q != nil && q.up && q.can.has(pulls)
}

// Free is what a node's ad says that it has free.
func (p *Peers) Free(id grid.NodeID) grid.Resources {
	if g := p.cfg.Gossip.Peer(id); g != nil && g.Ad != nil {
		return g.Ad.Free
	}
	return grid.Resources{}
}

// Cores are those that a connected node states, as far as they are believed.
func (p *Peers) Cores(id grid.NodeID) grid.MilliCPU {
	if q := p.set.get(id); q != nil {
		return p.records.Of(id).Cores(grid.MilliCPU(q.cores))
	}
	return 0
}

package peers

import "skep/grid"

// Which connected nodes have work that waits, and which have room for some: by their ads, for package pull.

// pullKinds are the kinds that a peer must understand to pull tasks, and to have them pulled.
const pullKinds = grid.KindSet(1<<grid.KindWaiting | 1<<grid.KindPull | 1<<grid.KindNoWork)

// load is what a connected node's ad says of it.
type load uint8

const (
	otherLoad load = iota
	workWaits      // work waits there
	hasRoom        // it has free resources and no backlog
	loads          // number of loads
)

// loadOf returns the load that a peer's ad states; nil = it has none.
func loadOf(q *peer, ad *grid.Ad) load {
	switch {
	case !q.up || !q.can.has(pulls) || ad == nil:
		return otherLoad
	case ad.Waiting:
		return workWaits
	case q.can.has(takesWork) && ad.Backlog <= 0 && ad.Free.CPU > 0 && !ad.Closed():
		return hasRoom
	}
	return otherLoad
}

// noteLoad records what an ad of a peer says of its load, and counts the peers of each.
func (p *Peers) noteLoad(q *peer, ad *grid.Ad) {
	if ad != nil { // the peer may leave: then it has none, and what it has said of its tasks holds
		_, q.durable = ad.Label(grid.DurableLabel)
	}
	p.loads[q.load]--
	q.load = loadOf(q, ad)
	p.loads[q.load]++
}

// withLoad returns the peers of a load, ordered by identity; valid until the next call.
func (p *Peers) withLoad(is load) []grid.NodeID {
	dst := p.cfg.Scratch.loaded[:0]
	for _, q := range p.set {
		if len(dst) == p.loads[is] {
			break
		}
		if q.load == is {
			dst = append(dst, q.id)
		}
	}
	p.cfg.Scratch.loaded = dst
	return dst
}

// WhereWorkWaits are the connected nodes whose ads say that work waits there; read only, valid until the next call, or
// that of WithRoom.
func (p *Peers) WhereWorkWaits() []grid.NodeID { return p.withLoad(workWaits) }

// WithRoom are the connected nodes that have free resources and no backlog, by their ads; read only likewise.
func (p *Peers) WithRoom() []grid.NodeID { return p.withLoad(hasRoom) }

// Loads are the numbers of both.
func (p *Peers) Loads() (waiting, roomy int) { return p.loads[workWaits], p.loads[hasRoom] }

// Pulls reports whether a node understands that a task was pulled.
func (p *Peers) Pulls(id grid.NodeID) bool {
	q := p.get(id)
	return q != nil && q.up && q.can.has(pulls)
}

// Durable reports whether what runs at a node goes on while the node does not, as its ad says.
func (p *Peers) Durable(id grid.NodeID) bool {
	if q := p.set.get(id); q != nil && q.durable {
		return true
	}
	ad := p.adOf(id)
	if ad == nil {
		return false
	}
	_, durable := ad.Label(grid.DurableLabel)
	return durable
}

// Free is what a node's ad says that it has free.
func (p *Peers) Free(id grid.NodeID) grid.Resources {
	if g := p.cfg.Gossip.Peer(id); g != nil && g.Ad != nil {
		return g.Ad.Free
	}
	return grid.Resources{}
}

// Counts are the counted resources that a node's ad states.
func (p *Peers) Counts(id grid.NodeID) grid.Counts {
	if g := p.cfg.Gossip.Peer(id); g != nil && g.Ad != nil {
		return g.Ad.Capacity.Counts
	}
	return ""
}

// Cores are those that a connected node states, as far as they are believed.
func (p *Peers) Cores(id grid.NodeID) grid.MilliCPU {
	if q := p.set.get(id); q != nil {
		return p.records.Of(id).Cores(grid.MilliCPU(q.cores))
	}
	return 0
}

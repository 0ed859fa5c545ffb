package peers

import (
	"slices"

	"skep/discovery"
	"skep/gossip"
	"skep/grid"
)

// GangNodes are the nodes that may run ranks of a gang, this one and those of the view, ordered by identity, with what
// each has by its newest news; those that cannot be asked now say why.
func (p *Peers) GangNodes(now grid.Time, n *Need) (nodes []grid.GangNode) {
	spec, here := n.Spec, p.cfg.Exec
	self := &grid.Ad{Node: p.cfg.Self, Free: here.Free(), Capacity: here.Capacity(), Speed: p.cfg.Speed,
		Availability: p.cfg.Profile.Availability()}
	own := grid.GangNode{Node: self.Node, Free: n.free(self), Capacity: self.Capacity, Speed: p.rankSpeed(self, n),
		Coord: p.cfg.Gossip.Coord(), Own: true}
	if own.Refuses = p.FitsSelf(spec); own.Refuses.Why == grid.WhyNone {
		own.Refuses.Why = here.Refuses(spec.Needs.Resources)
	}
	if own.Refuses.Why == grid.WhyNone {
		own.Refuses = p.AcceptsNow(spec)
	}
	if n.Foreign && p.cfg.Private {
		own.Refuses.Why = grid.WhyPrivate
	}
	if here.Shares() {
		own.Refuses = grid.Refusal{Why: grid.WhySharing}
	}
	for _, g := range p.cfg.Gossip.Peers() {
		if g.Ad != nil {
			nodes = append(nodes, grid.GangNode{Node: g.Ad.Node, Free: n.free(g.Ad), Capacity: g.Ad.Capacity,
				Backlog: g.Ad.Backlog, RTT: g.RTT, Refuses: p.refusesGang(now, n, g), Speed: p.rankSpeed(g.Ad, n),
				Coord: g.Ad.Coord, News: now.Sub(g.Heard), Link: p.bandwidths.of(now, g.Ad.Node)})
		}
	}
	at, _ := slices.BinarySearchFunc(nodes, own.Node,
		func(x grid.GangNode, id grid.NodeID) int { return x.Node.Compare(id) })
	return slices.Insert(nodes, at, own)
}

// free is what a node has free if the gang gives up what it holds there. An ad may be older than that.
func (n *Need) free(ad *grid.Ad) grid.Resources {
	held, some := n.Held[ad.Node]
	if !some {
		return ad.Free
	}
	if free := ad.Free.Plus(held); ad.Capacity.Fits(free) {
		return free
	}
	return ad.Capacity
}

// rankSpeed is the speed of a rank at a node: that of a core, of which other users leave a part where the node has as
// many ranks as are free for them. Ranks that ask for less than a core have together what the node has, in proportion
// to what they ask for, and none has more than a core.
func (p *Peers) rankSpeed(ad *grid.Ad, n *Need) float64 {
	if p.cfg.GangFacts != nil {
		ad = p.cfg.GangFacts(ad)
	}
	spec, free := n.Spec, n.free(ad)
	used, need := ad.Capacity.CPU-free.CPU, spec.Needs.CPU
	ranks := free.Slots(spec.Needs.Resources, int(spec.Gang.Ranks))
	want, core := used+max(need, need*grid.MilliCPU(ranks)), 1.0
	if need > 0 {
		core = min(1, float64(ad.Capacity.CPU)*float64(need)/float64(grid.CPU*min(want, max(ad.Capacity.CPU, 1))))
	}
	return ad.Speed * core * p.share(ad, want)
}

// refusesGang returns why a node of the view cannot be asked for slots now; WhyNone = it can.
func (p *Peers) refusesGang(now grid.Time, n *Need, g *gossip.Peer) grid.Refusal {
	spec, id := n.Spec, g.Ad.Node
	q := p.set.get(id)
	if r := discovery.Explain(spec, g.Ad); r.Why != grid.WhyNone {
		return r
	}
	if g.Ad.Sharing.Least > 0 {
		return grid.Refusal{Why: grid.WhySharing}
	}
	if q == nil || !q.up {
		return grid.Refusal{Why: grid.WhyGone}
	}
	if r := discovery.Now(&spec.Needs, g.Ad); r.Why != grid.WhyNone {
		return r
	}
	switch {
	case !q.can.has(keepsGangs | takesWork):
		return grid.Refusal{Why: grid.WhyLabel, Detail: "its version knows no gangs"}
	case spec.Access() == grid.AccessOwner && !q.can.has(hidesJobs):
		return grid.Refusal{Why: grid.WhyAccess}
	case p.Excludes(now, n.Class, id):
		return grid.Refusal{Why: grid.WhyAvoided}
	case p.records.Of(id).GetsNoRanks(now, grid.MilliCPU(q.cores)):
		return grid.Refusal{Why: grid.WhyUnproven}
	}
	return grid.Refusal{}
}

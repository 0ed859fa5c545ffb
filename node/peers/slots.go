package peers

import (
	"skep/grid"
	"skep/node/profile"
)

// slots returns this node's capacity in the allocation LP, in cores.
func (p *Peers) slots() float64 {
	cores := p.cfg.Cores.Cores()
	if p.cfg.Balance.Availability {
		cores *= p.cfg.Profile.Availability()
	}
	return cores
}

// startAt is when a node would start a task with that need of counted resources, by its ad, seconds from then.
func startAt(ad *grid.Ad, need grid.Counts) float64 {
	t := ad.Backlog.Seconds()
	for kind := range need.All() {
		t = max(t, float64(ad.Waits.Of(kind)))
	}
	return t
}

// atOnce is how many tasks with that need of counted resources a capacity has units for; 0 = they need none.
func atOnce(capacity grid.Resources, need grid.Counts) (n float64) {
	for kind, units := range need.All() {
		if most := float64(capacity.Counts.Of(kind) / units); n == 0 || most < n {
			n = max(most, 1)
		}
	}
	return n
}

// mostAt is atOnce for a connected node, by its ad.
func (p *Peers) mostAt(id grid.NodeID, need grid.Counts) float64 {
	if need == "" {
		return 0
	}
	if g := p.cfg.Gossip.Peer(id); g != nil && g.Ad != nil {
		return atOnce(g.Ad.Capacity, need)
	}
	return 1
}

// perCore is how many tasks of such needs a core of that capacity stands for in the allocation LP, all cores together
// for no more tasks than there are units for.
func perCore(capacity grid.Resources, need grid.Resources) float64 {
	n := float64(grid.CPU) / float64(max(need.CPU, 1))
	if most := atOnce(capacity, need.Counts); most > 0 && capacity.CPU > 0 {
		n = min(n, most*float64(grid.CPU)/float64(capacity.CPU))
	}
	return n
}

// slotsOf returns a peer's capacity in the allocation LP, in cores: a_j times its trusted cores. The availability
// that it states is bounded by its return rate.
func (p *Peers) slotsOf(now grid.Time, m connectedPeer) float64 {
	cores := p.cores(m).Cores()
	if !p.cfg.Balance.Availability || m.view.Ad == nil {
		return cores
	}
	a := m.view.Ad.Availability
	if s := m.record; s != nil && !p.cfg.RatesGiven {
		if a = min(a, s.ReturnRate(now)); s.BackingOff(now) || s.Late(now) {
			a = 0
		}
	}
	return cores * profile.ClampShare(a)
}

// cores returns how many cores of a peer are trusted, by its track record.
func (p *Peers) cores(m connectedPeer) grid.MilliCPU {
	if p.cfg.RatesGiven {
		return grid.MilliCPU(m.cores)
	}
	return m.record.Cores(grid.MilliCPU(m.cores))
}

// speedOf returns the factor (at most 1) by which a task is slowed down at a peer, by its ad: other load and its own
// tasks share the cores.
func (p *Peers) speedOf(m connectedPeer, bid grid.Bid, cpu grid.MilliCPU) float64 {
	ad := m.view.Ad
	if ad.Sharing.Least > 0 {
		cores := ad.Capacity.CPU.Cores()
		if p.cfg.Balance.Availability {
			cores *= profile.ClampShare(ad.Availability)
		}
		return ad.Sharing.SpeedOf(bid, cpu, ad.Free.CPU, cores)
	}
	return p.share(ad, min(ad.Capacity.CPU, ad.Capacity.CPU-ad.Free.CPU+cpu))
}

// share returns the part of the cores that tasks want which other users of a node leave them.
func (p *Peers) share(ad *grid.Ad, want grid.MilliCPU) float64 {
	if !p.cfg.Balance.Availability || ad.Availability >= 1 {
		return 1
	}
	have := profile.ClampShare(ad.Availability) * float64(ad.Capacity.CPU)
	return min(1, have/max(float64(want), 1))
}

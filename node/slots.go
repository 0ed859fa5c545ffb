package node

import (
	"skep/grid"
	"skep/node/profile"
)

// slots returns this node's capacity in the allocation LP, in cores.
func (n *parts) slots() float64 {
	cores := float64(n.cfg.Capacity.CPU) / float64(grid.CPU)
	if n.cfg.Balance.Availability {
		cores *= n.profile.Availability()
	}
	return cores
}

// slotsOf returns a peer's capacity in the allocation LP, in cores: a_j times its trusted cores. The availability
// that it claims is bounded by its return rate.
func (n *parts) slotsOf(now grid.Time, m connectedPeer) float64 {
	cores := float64(n.cores(m)) / float64(grid.CPU)
	if !n.cfg.Balance.Availability || m.view.Ad == nil {
		return cores
	}
	a := m.view.Ad.Availability
	if s := m.record; s != nil && len(n.cfg.Given) == 0 {
		if a = min(a, s.ReturnRate(now)); s.BackingOff(now) || s.Late(now) {
			a = 0
		}
	}
	return cores * profile.ClampShare(a)
}

// cores returns how many cores of a peer are trusted, by its track record.
func (n *parts) cores(m connectedPeer) grid.MilliCPU {
	if len(n.cfg.Given) > 0 {
		return grid.MilliCPU(m.cores)
	}
	return m.record.Cores(grid.MilliCPU(m.cores))
}

// speedOf returns the factor (at most 1) by which a task is slowed down at a peer, by its ad: other load and its own
// tasks share the cores.
func (n *parts) speedOf(m connectedPeer, spec *grid.JobSpec) float64 {
	ad := m.view.Ad
	if !n.cfg.Balance.Availability || ad.Availability >= 1 {
		return 1
	}
	have := profile.ClampShare(ad.Availability) * float64(ad.Capacity.CPU)
	want := float64(min(ad.Capacity.CPU, ad.Capacity.CPU-ad.Free.CPU+spec.Needs.CPU))
	return min(1, have/max(want, 1))
}

package node

import "skep/grid"

// availability is the part of this node that tasks can use, as measured by its driver.
type availability struct {
	idleShare float64 // share of the cores that other load leaves idle
	upShare   float64 // share of time that the node is up
}

// minAvailability is the lower bound of every share: a node with nothing left now is not gone.
const minAvailability = 0.05

// clampShare limits a share to [minAvailability, 1]; NaN becomes the minimum.
func clampShare(x float64) float64 {
	if !(x > minAvailability) {
		return minAvailability
	}
	return min(x, 1)
}

// setAvailability applies the driver's measurement.
func (n *Node) setAvailability(now grid.Time, left, up float64, fx *grid.Effects) {
	n.availability = availability{idleShare: clampShare(left), upShare: clampShare(up)}
	if n.cfg.Balance.Availability {
		n.worker.SetCoreShare(now, n.availability.idleShare)
		n.policies.stale = true
	}
	n.adChanged(now, fx)
}

// fraction returns the availability a_j of [1 of balance, section 3.2]: the share of all time in which a core of this
// node is available.
func (a *availability) fraction() float64 { return clampShare(a.idleShare * a.upShare) }

// slots returns this node's capacity in the allocation LP, in cores.
func (n *parts) slots() float64 {
	cores := float64(n.cfg.Capacity.CPU) / float64(grid.CPU)
	if n.cfg.Balance.Availability {
		cores *= n.availability.fraction()
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
			a = minAvailability
		}
	}
	return cores * clampShare(a)
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
	have := clampShare(ad.Availability) * float64(ad.Capacity.CPU)
	want := float64(min(ad.Capacity.CPU, ad.Capacity.CPU-ad.Free.CPU+spec.Needs.CPU))
	return min(1, have/max(want, 1))
}

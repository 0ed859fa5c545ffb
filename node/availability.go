package node

import "skep/grid"

// availability is how much of this node there is for tasks, as its driver measures it.
type availability struct {
	idleShare float64 // share of its cores that others leave
	upShare   float64 // share of the time that it is up
}

// minAvailability is the least share of a node that is counted on: one of which nothing is left now is not gone.
const minAvailability = 0.05

// clampShare brings a share within bounds; what is no number is taken for the least.
func clampShare(x float64) float64 {
	if !(x > minAvailability) {
		return minAvailability
	}
	return min(x, 1)
}

// setAvailability takes what the driver measured.
func (n *Node) setAvailability(now grid.Time, left, up float64, fx *grid.Effects) {
	n.availability = availability{idleShare: clampShare(left), upShare: clampShare(up)}
	if n.cfg.Balance.Availability {
		n.exec.SetCoreShare(now, n.availability.idleShare)
		n.rates.stale = true
	}
	n.adChanged(now, fx)
}

// fraction is the availability a_j of [1 of balance, section 3.2]: the share of all time in which a core of this node is there.
func (v *availability) fraction() float64 { return clampShare(v.idleShare * v.upShare) }

// slots is this node's capacity in the allocation LP, cores.
func (n *Node) slots() float64 {
	cores := float64(n.cfg.Capacity.CPU) / float64(grid.CPU)
	if n.cfg.Balance.Availability {
		cores *= n.availability.fraction()
	}
	return cores
}

// slotsOf is that of a peer: a_j times its cores, each as far as it is believed. What it says of its availability is bounded by
// the share of what this node gave it that did not get lost there.
func (n *Node) slotsOf(now grid.Time, m connectedPeer) float64 {
	cores := float64(n.cores(m)) / float64(grid.CPU)
	if !n.cfg.Balance.Availability || m.view.Ad == nil {
		return cores
	}
	a := m.view.Ad.Availability
	if s := m.record; s != nil && len(n.cfg.Given) == 0 {
		if a = min(a, s.returnRate(now)); s.backingOff(now) || s.lateCount(now) > int(s.onTime) {
			a = minAvailability
		}
	}
	return cores * clampShare(a)
}

// returnRate is the share of the attempts given to a node that it did not lose, lately; with none lost, 1. One that is lost
// counts for little as long as few have come back.
func (s *trackRecord) returnRate(now grid.Time) float64 {
	t := s.ends // looking changes nothing, or a view would
	t.decay(now)
	return (t.good + priorReturns) / (t.good + t.bad + priorReturns)
}

// priorReturns is how many attempts that came back a node is credited with from the beginning.
const priorReturns = 2

// speedOf is at what part of its speed a task gets on at a peer, as far as its ad tells: others and its own tasks share
// what there is.
func (n *Node) speedOf(m connectedPeer, spec *grid.JobSpec) float64 {
	ad := m.view.Ad
	if !n.cfg.Balance.Availability || ad.Availability >= 1 {
		return 1
	}
	have := clampShare(ad.Availability) * float64(ad.Capacity.CPU)
	want := float64(min(ad.Capacity.CPU, ad.Capacity.CPU-ad.Free.CPU+spec.Needs.CPU))
	return min(1, have/max(want, 1))
}

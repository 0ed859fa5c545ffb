package node

import "skep/grid"

// available is how much of this node there is for tasks, as its driver measures it.
type available struct {
	left float64 // share of its cores that others leave
	up   float64 // share of the time that it is up
}

// leastAvailable is the least share of a node that is counted on: one of which nothing is left now is not gone.
const leastAvailable = 0.05

// share brings a share within bounds; what is no number is taken for the least.
func share(x float64) float64 {
	if !(x > leastAvailable) {
		return leastAvailable
	}
	return min(x, 1)
}

// available takes what the driver measured.
func (n *Node) available(now grid.Time, left, up float64, fx *grid.Effects) {
	n.avail = available{left: share(left), up: share(up)}
	if n.cfg.Balance.Availability {
		n.exec.Left(now, n.avail.left)
		n.rates.stale = true
	}
	n.changed(now, fx)
}

// a is the availability a_j of [1 of balance, section 3.2]: the share of all time in which a core of this node is there.
func (v *available) a() float64 { return share(v.left * v.up) }

// slots is this node's capacity in the allocation LP, cores.
func (n *Node) slots() float64 {
	cores := float64(n.cfg.Capacity.CPU) / float64(grid.CPU)
	if n.cfg.Balance.Availability {
		cores *= n.avail.a()
	}
	return cores
}

// slotsOf is that of a peer: a_j times its cores, each as far as it is believed. What it says of its availability is bounded by
// the share of what this node gave it that did not get lost there.
func (n *Node) slotsOf(now grid.Time, m met) float64 {
	cores := float64(n.cores(m)) / float64(grid.CPU)
	if !n.cfg.Balance.Availability || m.known.Ad == nil {
		return cores
	}
	a := m.known.Ad.Availability
	if s := m.seen; s != nil && len(n.cfg.Given) == 0 {
		if a = min(a, s.brings(now)); s.wary(now) || s.late(now) > int(s.kept) {
			a = leastAvailable
		}
	}
	return cores * share(a)
}

// brings is the share of the attempts given to a node that it did not lose, lately; with none lost, 1. One that is lost
// counts for little as long as few have come back.
func (s *standing) brings(now grid.Time) float64 {
	t := s.ends // looking changes nothing, or a view would
	t.fade(now)
	return (t.good + doubtful) / (t.good + t.bad + doubtful)
}

// doubtful is how many attempts that came back a node is credited with from the beginning.
const doubtful = 2

// speedOf is at what part of its speed a task gets on at a peer, as far as its ad tells: others and its own tasks share
// what there is.
func (n *Node) speedOf(m met, spec *grid.JobSpec) float64 {
	ad := m.known.Ad
	if !n.cfg.Balance.Availability || ad.Availability >= 1 {
		return 1
	}
	have := share(ad.Availability) * float64(ad.Capacity.CPU)
	want := float64(min(ad.Capacity.CPU, ad.Capacity.CPU-ad.Free.CPU+spec.Needs.CPU))
	return min(1, have/max(want, 1))
}

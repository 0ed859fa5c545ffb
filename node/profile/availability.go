package profile

import "skep/grid"

// availability is the part of this node that tasks can use, as measured by its driver.
type availability struct {
	idleShare float64 // share of the cores that other load leaves idle
	upShare   float64 // share of time that the node is up
}

// minAvailability is the lower bound of every share: a node with nothing left now is not gone.
const minAvailability = 0.05

// ClampShare limits a share to [minAvailability, 1]; NaN becomes the minimum.
func ClampShare(x float64) float64 {
	if !(x > minAvailability) {
		return minAvailability
	}
	return min(x, 1)
}

// SetAvailability applies the driver's measurement.
func (p *Profile) SetAvailability(now grid.Time, idle, up float64, fx *grid.Effects) {
	p.availability = availability{idleShare: ClampShare(idle), upShare: ClampShare(up)}
	p.Changed(now, fx)
}

// Availability returns the availability a_j of [1, section 3.2]: the share of all time in which a core of this node is
// available.
func (p *Profile) Availability() float64 { return ClampShare(p.idleShare * p.upShare) }

// IdleShare returns the share of the cores that other load leaves idle.
func (p *Profile) IdleShare() float64 { return p.idleShare }

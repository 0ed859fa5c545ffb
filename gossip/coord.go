package gossip

import (
	"encoding/binary"
	"math"
	"time"

	"skep/grid"
)

// Vivaldi [6] gives every node coordinates in a space of round-trip times: a spring between it and each peer whose
// round trip it measures pulls it to where the distance equals the round trip. The timestep is adaptive:
//
//	w = e/(e + e_peer)                 relative confidence
//	s = |distance − rtt| / rtt         error of this sample
//	e ← s·Tune·w + e·(1 − Tune·w)
//	x ← x + Tune·w·(rtt − distance)·u  u = unit vector from the peer to here, by [6, 5.4] with heights
const (
	tune      = 0.25 // c_e and c_c of [6]
	leastRise = 1e-5 // seconds: least height
	surest    = 0.05 // least error that a peer is believed to have
	// seconds: largest move by one sample, so that a peer with false coordinates cannot throw a node far away
	strongest = 0.1
)

// place updates this node's coordinates by a round trip to a peer with coordinates. Nothing is random: two nodes at
// one point separate in a direction given by their identities.
func (g *Gossip) place(p *Peer, rtt time.Duration) {
	if rtt <= 0 || rtt > maxDistance || p.Ad == nil || p.Hops != 1 {
		return
	}
	if !g.coord.Known() {
		g.coord = grid.Coord{Height: leastRise, Error: 1}
	}
	c, d := &g.coord, &p.Ad.Coord
	if !d.Known() {
		return // it begins now, and will say so
	}
	far, t := c.Distance(d), rtt.Seconds()
	w := float64(c.Error) / (float64(c.Error) + max(float64(d.Error), surest))
	off := min(math.Abs(far-t)/t, grid.MaxCoordError)
	c.Error = float32(max(off*tune*w+float64(c.Error)*(1-tune*w), surest))
	push(c, d, min(max(tune*w*(t-far), -strongest), strongest), p.Node())
}

// push moves c by a force, in seconds, away from d, and keeps it within bounds.
func push(c, d *grid.Coord, force float64, peer grid.NodeID) {
	var u [3]float64
	sum := 0.0
	for k := range u {
		u[k] = float64(c.At[k]) - float64(d.At[k])
		sum += u[k] * u[k]
	}
	flat := math.Sqrt(sum)
	high := float64(c.Height) + float64(d.Height)
	rise := float64(c.Height) + force*high/(flat+high)
	if flat < leastRise {
		h := binary.BigEndian.Uint64(peer[:]) * 0x9e3779b97f4a7c15
		for k := range u {
			u[k] = float64(h>>(21*k)&0x1fffff)/0x100000 - 1
		}
		flat = math.Sqrt(u[0]*u[0]+u[1]*u[1]+u[2]*u[2]) + leastRise
	}
	for k := range u {
		x := float64(c.At[k]) + force*u[k]/flat
		c.At[k] = float32(min(max(x, -grid.MaxCoord), grid.MaxCoord))
	}
	c.Height = float32(min(max(rise, leastRise), grid.MaxCoord))
}

// Coord returns this node's coordinates, for its ad; the zero value while it has none.
func (g *Gossip) Coord() grid.Coord { return g.coord }

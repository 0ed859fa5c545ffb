package grid

import "math"

// Coord is a node's place in a space in which distances are round-trip times: a point, and a height for the
// last link, which every way there and back goes through. The zero value is no place.
type Coord struct {
	At     [3]float32 // seconds
	Height float32    // seconds, above 0
	Error  float32    // of distances from here, relative; above 0
}

// Bounds of coordinates.
const (
	MaxCoord      = 10 // seconds, of each number of a place
	MaxCoordError = 2
)

// Known reports whether c is a place.
func (c *Coord) Known() bool { return c.Error > 0 }

// Distance is the expected round-trip time between two places, seconds; 0 if either is none.
func (c *Coord) Distance(d *Coord) float64 {
	if !c.Known() || !d.Known() {
		return 0
	}
	sum := 0.0
	for k := range c.At {
		x := float64(c.At[k]) - float64(d.At[k])
		sum += x * x
	}
	return math.Sqrt(sum) + float64(c.Height) + float64(d.Height)
}

// check reports what is impossible in a coordinate. Comparisons are such that what is no number fails.
func (c *Coord) check(p *problems) {
	if *c == (Coord{}) {
		return
	}
	ok := c.Height > 0 && c.Height <= MaxCoord && c.Error > 0 && c.Error <= MaxCoordError
	for _, x := range c.At {
		ok = ok && x >= -MaxCoord && x <= MaxCoord
	}
	if !ok {
		p.addf("coordinate %v, height %g, error %g: want numbers within %d s, a height above 0, and an error above 0 and "+
			"at most %d",
			c.At, c.Height, c.Error, MaxCoord, MaxCoordError)
	}
}

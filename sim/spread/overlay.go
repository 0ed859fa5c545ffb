package spread

import (
	"math"
	"slices"
	"time"

	"skep/grid"
)

// overlay is who is whose neighbour, and where the nodes lie.
type overlay struct {
	links [][]int32
	x, y  []float32
	near  time.Duration
}

// wire makes the overlay: a ring and random edges, so that degrees differ; or else as many random rings as give
// everybody the same degree but for edges that fall together.
func wire(c *Config, r *grid.Rand) *overlay {
	o := &overlay{links: make([][]int32, c.Nodes), x: make([]float32, c.Nodes), y: make([]float32, c.Nodes),
		near: c.Latency}
	for i := range c.Nodes {
		o.x[i], o.y[i] = r.Float32(), r.Float32()
	}
	for i := range c.Nodes {
		o.link(i, (i+1)%c.Nodes)
	}
	if c.Ring {
		for range c.Nodes * (c.Degree - 2) / 2 { // of which some fall together
			o.link(r.IntN(c.Nodes), r.IntN(c.Nodes))
		}
		return o
	}
	for range c.Degree/2 - 1 {
		order := r.Perm(c.Nodes)
		for i := range order {
			o.link(order[i], order[(i+1)%c.Nodes])
		}
	}
	return o
}

// most is the largest degree.
const most = 31

func (o *overlay) link(i, j int) bool {
	if i == j || slices.Contains(o.links[i], int32(j)) || len(o.links[i]) >= most || len(o.links[j]) >= most {
		return false
	}
	o.links[i] = append(o.links[i], int32(j))
	o.links[j] = append(o.links[j], int32(i))
	return true
}

// way is the time of a message from i to j.
func (o *overlay) way(i, j int) time.Duration {
	d := math.Hypot(float64(o.x[i]-o.x[j]), float64(o.y[i]-o.y[j]))
	return o.near + time.Duration(3*d*float64(o.near))
}

// distances are the links from a node to each other.
func (o *overlay) distances(from int) []uint8 {
	d := make([]uint8, len(o.links))
	for i := range d {
		d[i] = math.MaxUint8
	}
	d[from] = 0
	for q := []int32{int32(from)}; len(q) > 0; q = q[1:] {
		for _, j := range o.links[q[0]] {
			if d[j] == math.MaxUint8 {
				d[j] = d[q[0]] + 1
				q = append(q, j)
			}
		}
	}
	return d
}

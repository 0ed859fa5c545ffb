package gossip

import (
	"math"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// strains returns the sorted relative errors of coordinate distances between nodes that are not connected.
func (w *network) strains() (all []float64) {
	for i, n := range w.nodes {
		for j := i + 1; j < len(w.nodes); j++ {
			if n.up[j] {
				continue
			}
			c, d := n.Coord(), w.nodes[j].Coord()
			is := w.rtt(i, j).Seconds()
			all = append(all, math.Abs(c.Distance(&d)-is)/is)
		}
	}
	slices.Sort(all)
	return all
}

// The nodes lie on a square, so good coordinates exist; [6] gets a median error of about a tenth where they do. Only
// existing messages are used: the round trip at connecting, and the neighbours' refreshes.
func TestCoordinatesTellDistances(t *testing.T) {
	w := newNetwork(t, 100, 5, Defaults())
	for _, n := range w.nodes {
		n.describe = func(ad *grid.Ad) { ad.Coord = n.Coord() }
	}
	w.join(100 * time.Millisecond)
	w.run(2 * time.Minute)
	early := w.strains()
	w.run(13 * time.Minute)
	late := w.strains()
	half, most := late[len(late)/2], late[len(late)*9/10]
	t.Logf("median error after 2 min %.2f, after 15 min %.2f, of nine tenths %.2f", early[len(early)/2], half, most)
	if half > 0.2 || most > 0.6 || half > early[len(early)/2] {
		t.Errorf("median error %.2f, nine tenths within %.2f: want 0.2 and 0.6, and less than in the beginning", half, most)
	}
}

func TestLiarsDoNotMoveANodeFar(t *testing.T) {
	g, fx := started(t, Defaults(), 4)
	liar := adOf(1, 1)
	liar.Coord = grid.Coord{At: [3]float32{10, 10, 10}, Height: 10, Error: 1e-6}
	if liar.Check() != nil {
		t.Fatal("the lie is out of bounds")
	}
	for i := range 1000 {
		ad := *liar
		ad.Seq.N = uint64(10 + i)
		g.Hear(grid.Time(i)*grid.Time(time.Second), id(1), []grid.AdEntry{{Ad: &ad}}, fx, nil)
		g.Heard(grid.Time(i)*grid.Time(time.Second), id(1), 11*time.Second) // beyond what is believed
		fx.Reset()
	}
	c := g.Coord()
	ad := adOf(0, 1)
	ad.Coord = c
	if err := ad.Check(); err != nil {
		t.Errorf("after a thousand lies this node says what others refuse: %v", err)
	}
}

func TestCoordinatesOutOfBounds(t *testing.T) {
	nan := float32(math.NaN())
	inf := float32(math.Inf(1))
	for _, c := range []grid.Coord{
		{At: [3]float32{nan}, Height: 1, Error: 1}, {At: [3]float32{inf}, Height: 1, Error: 1},
		{At: [3]float32{0, -11}, Height: 1, Error: 1},
		{Height: -1, Error: 1}, {Height: nan, Error: 1}, {Height: 1, Error: nan}, {Height: 1, Error: 3}, {Height: 1},
		{Error: 1},
	} {
		ad := adOf(1, 1)
		ad.Coord = c
		if ad.Check() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	ad := adOf(1, 1)
	if err := ad.Check(); err != nil {
		t.Errorf("an ad without a place: %v", err)
	}
}

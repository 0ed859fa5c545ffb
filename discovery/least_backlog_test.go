package discovery

import (
	"testing"
	"time"

	"skep/grid"
)

// A walk goes on to the node that meets the needs and has the least backlog, of equal ones to that of which the news is
// newest; never to one that is nearly full or drained, or of which nothing is known.
func TestLeastBacklog(t *testing.T) {
	best := LeastBacklog{Needs: need(2000, 0), Engine: "process"}
	for k, c := range []struct {
		change func(*grid.Ad)
		heard  grid.Time
		want   int // the best with it; 0 = none
	}{
		{func(ad *grid.Ad) { ad.Draining = true }, 9, 0},
		{func(ad *grid.Ad) { ad.Capacity.CPU = 1000 }, 9, 0},
		{func(ad *grid.Ad) { ad.Backlog = time.Minute }, 1, 3},
		{func(ad *grid.Ad) { ad.Backlog = time.Second }, 2, 4},
		{func(ad *grid.Ad) { ad.Backlog = time.Second }, 1, 4},
		{func(ad *grid.Ad) { ad.Backlog = time.Second }, 3, 6},
		{func(ad *grid.Ad) { ad.Engines = nil }, 9, 6},
	} {
		ad := adOf(id(k + 1))
		c.change(ad)
		best.Consider(nil, 9)
		best.Consider(ad, c.heard)
		if c.want == 0 && best.Ad != nil || c.want != 0 && (best.Ad == nil || best.Ad.Node != id(c.want)) {
			t.Errorf("after node %d: %+v is best, want node %d (0 = none)", k+1, best.Ad, c.want)
		}
	}
}

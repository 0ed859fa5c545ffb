package schedule

import (
	"math"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// A measurement counts the less the older it is.
func TestMeasurementsFade(t *testing.T) {
	own := grid.GangNode{Own: true}
	for age, want := range map[time.Duration]float64{
		0: 1e6, memory: SiteBandwidth - (SiteBandwidth-1e6)/math.E, 24 * time.Hour: SiteBandwidth,
	} {
		n := grid.GangNode{RTT: time.Microsecond, Link: grid.Bandwidth{Rate: 1e6, Age: age}}
		if l, _, measured := linkOf(&own, &n); math.Abs(l.Bandwidth-want) > 1e-3*want || !measured {
			t.Errorf("%v old: %.4g, want %.4g", age, l.Bandwidth, want)
		}
	}
}

// Of equal machines the search takes those first whose links are the fastest, a near one before a far one.
func TestMachinesAreOrderedByTheirLinks(t *testing.T) {
	nodes := []grid.GangNode{far(1, 0), far(2, 2e7), near(3, 0), near(4, 1e9)}
	if of, _ := machines(2, nodes, []int{1, 1, 1, 1}); !slices.Equal(of, []int{3, 2, 1, 0}) {
		t.Errorf("order %v: want 3, 2, 1, 0", of)
	}
}

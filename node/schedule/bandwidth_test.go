package schedule

import (
	"math"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// near and far are nodes as a node in the middle of a site sees them, and own is that node; the link to each of the
// others has achieved so many bytes a second.
func near(id byte, rate float64) grid.GangNode {
	n := node(id, 1, 0)
	n.RTT, n.Link = time.Millisecond, grid.Bandwidth{Rate: rate, Age: time.Duration(id) * time.Second}
	return n
}

func far(id byte, rate float64) grid.GangNode {
	n := node(id, 1, 0.2)
	n.RTT, n.Link = 200*time.Millisecond, grid.Bandwidth{Rate: rate, Age: time.Duration(id) * time.Second}
	return n
}

func own() grid.GangNode {
	n := node(9, 1, 0)
	n.Own = true
	return n
}

// A link has the bandwidth that was measured where that tells something of it, else the usual one of its length.
func TestBandwidthOfLinks(t *testing.T) {
	other := far(5, 3e6)
	other.Coord.At[0] = 0.4
	for what, c := range map[string]struct {
		a, b     grid.GangNode
		want     float64
		age      time.Duration // measured so long ago
		measured bool
	}{
		"of the owner":                  {own(), near(1, 3e7), 3e7, time.Second, true},
		"of the owner to another site":  {own(), far(1, 3e7), 3e7, time.Second, true},
		"in the site":                   {near(1, 3e7), near(2, 2e7), 2e7, 2 * time.Second, true},
		"in the site, one not measured": {near(1, 3e7), near(2, 0), 3e7, time.Second, true},
		"in the site, one of them fast": {near(1, 1e9), near(2, 0), SiteBandwidth, time.Second, true},
		"out of the site":               {near(1, 3e7), far(2, 2e6), 2e6, 2 * time.Second, true},
		"out of the site, that not":     {near(1, 3e7), far(2, 0), FarBandwidth, 0, false},
		"in the site, none":             {near(1, 0), near(2, 0), SiteBandwidth, 0, false},
		"of the owner, none":            {own(), near(2, 0), SiteBandwidth, 0, false},
		"within another site":           {far(1, 3e6), far(2, 3e6), SiteBandwidth, 0, false},
		"between two others":            {far(1, 3e6), other, FarBandwidth, 0, false},
	} {
		const fresh = 1_000_000 // times younger: what is that fresh has not faded
		c.a.Link.Age, c.b.Link.Age, c.age = c.a.Link.Age/fresh, c.b.Link.Age/fresh, c.age/fresh
		for range 2 {
			l, age, measured := linkOf(&c.a, &c.b)
			if math.Abs(l.Bandwidth-c.want) > 1e-6*c.want || measured != c.measured || measured && age != c.age {
				t.Errorf("%s: %+v, %v, %v: want %g, %v, %v", what, l, age, measured, c.want, c.age, c.measured)
			}
			c.a, c.b = c.b, c.a
		}
	}
}

// Of nodes that are equal but for their links those with the faster ones are taken, and the iteration is expected to
// take what it takes over these; what is said of it names the slowest and the age of its measurement.
func TestFastLinksAreTaken(t *testing.T) {
	program := &grid.ScheduleSearch{Model: "jacobi", Parameters: []grid.Parameter{{Name: "n", Value: 4000}}}
	slow := choose(t, program, 2, []grid.GangNode{near(1, 1e6), near(2, 2e6)}, 1, 1)
	c := choose(t, program, 2, []grid.GangNode{near(1, 1e6), near(2, 2e6), near(3, 1e8), near(4, 9e7)}, 1, 1, 1, 1)
	for _, p := range c.Places {
		if p.Node[0] < 3 {
			t.Errorf("%+v: want nodes 3 and 4", c.Places)
		}
	}
	if !strings.Contains(c.Why, "slowest link 90.2 MB/s, measured 4 s ago") {
		t.Errorf("it says %q", c.Why)
	}
	if !(c.Time < 0.8*slow.Time) || math.IsInf(slow.Time, 0) {
		t.Errorf("%g s an iteration, and %g over slow links", c.Time, slow.Time)
	}
	if c := choose(t, program, 2, []grid.GangNode{near(1, 0), near(2, 0)}, 1, 1); !strings.Contains(c.Why,
		"slowest link 125 MB/s, not measured") {
		t.Errorf("without transfers it says %q", c.Why)
	}
	if c := choose(t, program, 1, []grid.GangNode{near(1, 0)}, 1); strings.Contains(c.Why, "link") {
		t.Errorf("of one node it says %q", c.Why)
	}
}

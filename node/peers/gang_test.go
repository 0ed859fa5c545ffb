package peers

import (
	"testing"

	"skep/balance"
	"skep/grid"
)

// A rank gets of its core what other users of the node leave there, when the node has its tasks and as many ranks as
// are free for them.
func TestRankSpeed(t *testing.T) {
	for _, c := range []struct {
		capacity, free, need grid.MilliCPU
		ranks                uint32
		left                 float64
		want                 float64
	}{
		{1000, 1000, 1000, 6, 1, 2},
		{1000, 1000, 1000, 6, 0.25, 0.5},
		{4000, 4000, 1000, 2, 0.5, 2}, // two cores are left for two ranks
		{4000, 4000, 1000, 6, 0.5, 1}, // and for four
		{4000, 2000, 1000, 2, 0.5, 1}, // two ranks, beside tasks of two cores
		{4000, 0, 1000, 2, 0.5, 0.8},  // when one becomes free
		{4000, 4000, 2000, 1, 0.25, 1},
		{1000, 1000, 1000, 6, 0, 0.1}, // no node has nothing at all
		{500, 500, 500, 1, 1, 1},      // a container with half a core
		{500, 500, 125, 1, 1, 1},
		{500, 500, 125, 4, 1, 0.25},     // four of them there
		{4000, 4000, 125, 6, 1, 4. / 3}, // six on four cores
		{4000, 4000, 125, 2, 1, 2},
	} {
		p := Peers{cfg: Config{Balance: &balance.Config{Availability: true}}}
		ad := &grid.Ad{Capacity: grid.Resources{CPU: c.capacity}, Free: grid.Resources{CPU: c.free}, Speed: 2,
			Availability: c.left}
		spec := &grid.JobSpec{Needs: grid.Needs{Resources: grid.Resources{CPU: c.need}}}
		spec.Gang.Ranks = c.ranks
		n := &Need{Spec: spec}
		if got := p.rankSpeed(ad, n); got != c.want {
			t.Errorf("%+v: %g", c, got)
		}
		p.cfg.GangFacts = func(a *grid.Ad) *grid.Ad { return &grid.Ad{Capacity: a.Capacity, Speed: 3, Availability: 1} }
		if got := p.rankSpeed(ad, n); c.need == 1000 && got != 3 {
			t.Errorf("%+v: %g, of an ad that is replaced", c, got)
		}
		p.cfg.GangFacts, p.cfg.Balance = nil, &balance.Config{}
		if got := p.rankSpeed(ad, n); c.need == 1000 && got != 2 {
			t.Errorf("%+v: %g where availability does not count", c, got)
		}
	}
}

// What a gang holds at a node counts as free for it, and no more than the node has: an ad may be older than the gang.
func TestWhatAGangHoldsIsFreeForIt(t *testing.T) {
	id, cores := grid.NodeID{1}, func(n grid.MilliCPU) grid.Resources { return grid.Resources{CPU: n * grid.CPU} }
	n := &Need{Held: map[grid.NodeID]grid.Resources{id: cores(2)}}
	for free, want := range map[grid.MilliCPU]grid.MilliCPU{0: 2, 1: 3, 2: 4, 3: 4, 4: 4} {
		if got := n.free(&grid.Ad{Node: id, Capacity: cores(4), Free: cores(free)}); got != cores(want) {
			t.Errorf("%d cores are free: %v, want %d", free, got, want)
		}
	}
	if got := n.free(&grid.Ad{Node: grid.NodeID{2}, Capacity: cores(4), Free: cores(1)}); got != cores(1) {
		t.Errorf("at a node where it has nothing: %v", got)
	}
}

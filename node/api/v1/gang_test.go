package v1

import (
	"testing"

	"skep/grid"
)

// A gang has a network of its own unless it asks for another, and says so when it is described.
func TestNetworkOfAGang(t *testing.T) {
	for _, c := range []struct {
		network, isolation string
		want               grid.Network
		level              grid.Isolation
	}{
		{"", "", grid.NetworkGang, grid.IsolationStrict},
		{"", "basic", grid.NetworkGang, grid.IsolationStrict},
		{"gang", "", grid.NetworkGang, grid.IsolationStrict},
		{"host", "", grid.NetworkHost, grid.IsolationNone},
		{"none", "", grid.NetworkNone, grid.IsolationBasic},
	} {
		s := &Spec{Command: []string{"x"}, TaskData: TaskData{Gang: &Gang{Ranks: 3}}, Network: c.network,
			Isolation: c.isolation}
		for range 2 { // the second time from its description
			g, err := s.Grid()
			if err == nil {
				err = g.Check()
			}
			if err != nil || g.Network != c.want || g.Isolation() != c.level ||
				g.Needs.HasFeature(grid.GangNetworkLabel) != (c.want == grid.NetworkGang) {
				t.Errorf("%+v: network %v, isolation %v, %v", c, g.Network, g.Isolation(), err)
			}
			s = SpecOf(g)
		}
		if _, shown := s.Needs.Labels[grid.GangNetworkLabel]; shown {
			t.Errorf("%+v: the label that follows from it is shown", c)
		}
	}
	g, err := (&Spec{Command: []string{"x"}, Network: "gang"}).Grid()
	if err != nil || g.Check() == nil {
		t.Errorf("network gang without ranks: %v; want an error of Check", err)
	}
}

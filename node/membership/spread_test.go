package membership

import (
	"slices"
	"testing"

	"skep/grid"
)

// labelled is the ad of a node with labels, given as key, value, key, value.
func labelled(k byte, labels ...string) *grid.Ad {
	ad := &grid.Ad{Node: node(k)}
	for i := 0; i < len(labels); i += 2 {
		ad.Labels = append(ad.Labels, grid.Label{Key: labels[i], Value: labels[i+1]})
	}
	return ad
}

func TestSharedDomains(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want int
	}{
		{nil, nil, 0},
		{[]string{"rack", "1"}, nil, 0},
		{[]string{"rack", "1"}, []string{"rack", "2"}, 0},
		{[]string{"rack", "1"}, []string{"zone", "1"}, 0},
		{[]string{"rack", "1"}, []string{"rack", "1"}, 1},
		{[]string{"os", "linux"}, []string{"os", "linux"}, 0},
		{[]string{"host", "h", "rack", "1", "zone", "z"}, []string{"host", "i", "rack", "1", "zone", "z"}, 2},
		{[]string{"host", "h", "rack", "1", "zone", "z"}, []string{"host", "h", "rack", "1", "zone", "z"}, 3},
	} {
		if got := sharedDomains(labelled(1, c.a...), labelled(2, c.b...)); got != c.want {
			t.Errorf("%v and %v share %d domains, want %d", c.a, c.b, got, c.want)
		}
	}
}

// Members are in other racks than this node and each other, as far as there are such; which of several in a rack is
// left to chance. The first nodes probed are spread in the same way.
func TestMembersAreSpreadOverRacks(t *testing.T) {
	w := newWorld(3, func(c *Config) { c.Labels = labelled(0, "rack", "a").Labels })
	rack := map[grid.NodeID]string{}
	for k, r := range []string{"a", "a", "b", "b", "c", "c"} {
		ad := labelled(byte(k+1), "rack", r)
		w.ads, w.alive[ad.Node], rack[ad.Node] = append(w.ads, ad), true, r
	}
	taken := map[grid.NodeID]int{}
	for i := range 50 {
		w.submit(i)
	}
	for _, job := range w.chosen {
		racks := []string{}
		for _, id := range job.Others {
			racks = append(racks, rack[id])
			taken[id]++
		}
		if slices.Sort(racks); !slices.Equal(racks, []string{"b", "c"}) {
			t.Errorf("others in racks %v, want one in b and one in c", racks)
		}
	}
	if len(w.chosen) != 50 || len(taken) != 4 {
		t.Errorf("%d of 50 chosen, %v times each: want each of the four nodes in b and c", len(w.chosen), taken)
	}
	clear(w.alive)
	w.submit(50)
	if len(w.probed) != 4 {
		t.Fatalf("probed %v, want one node more than there are members", w.probed)
	}
	if first := rack[w.probed[0]] + rack[w.probed[1]]; first != "bc" && first != "cb" {
		t.Errorf("first probed in racks %s, want b and c", first)
	}
}

// Where all nodes share the domains of this one they are taken nevertheless.
func TestMembersInOneRack(t *testing.T) {
	w := newWorld(5, func(c *Config) { c.Labels = labelled(0, "rack", "a").Labels })
	for k := range byte(4) {
		w.ads, w.alive[node(k+1)] = append(w.ads, labelled(k+1, "rack", "a")), true
	}
	if w.submit(0); w.members(0) != 5 {
		t.Errorf("%d members, want 5", w.members(0))
	}
}

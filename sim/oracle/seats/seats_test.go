package seats

import (
	"testing"

	"skep/grid"
)

var three = []grid.NodeID{{1}, {2}, {3}}

// change has node 4 in the place of node 2.
var change = &grid.Membership{Number: 1, Epoch: 1, Members: []grid.NodeID{{1}, {4}, {3}}, At: 1, Extra: grid.NodeID{2}}

func settled(m *grid.Membership) *grid.Membership {
	s := *m
	s.Extra = grid.NodeID{}
	return &s
}

func TestBothMajoritiesDecideUntilAChangeIsSettled(t *testing.T) {
	for _, c := range []struct {
		what  string
		m     *grid.Membership
		nodes string
		want  bool
	}{
		{"before the change", nil, "\x01\x02", true},
		{"who joins counts for nothing", &grid.Membership{Members: three, Extra: grid.NodeID{4}, Joining: true}, "\x01\x04",
			false},
		{"two that were and stay members", change, "\x01\x03", true},
		{"a majority of those before it alone", change, "\x01\x02", false},
		{"a majority of those after it alone", change, "\x01\x04", false},
		{"both, by four nodes", change, "\x01\x02\x04", true},
		{"once it is settled", settled(change), "\x01\x04", true},
		{"who was replaced counts no longer", settled(change), "\x01\x02", false},
	} {
		has := func(id grid.NodeID) bool {
			for _, n := range []byte(c.nodes) {
				if id[0] == n {
					return true
				}
			}
			return false
		}
		if got := Of(three, c.m).Decide(has); got != c.want {
			t.Errorf("%s: nodes %q decide: %t, want %t", c.what, c.nodes, got, c.want)
		}
	}
}

func TestMembershipsDoNotContradictEachOther(t *testing.T) {
	other := settled(change)
	other.Members = []grid.NodeID{{1}, {5}, {3}}
	for _, c := range []struct {
		what   string
		was, m *grid.Membership
		fails  bool
	}{
		{"a change", nil, change, false}, {"it is settled", change, settled(change), false},
		{"another one of that number", nil, other, true}, {"a change is forgotten", change, nil, true},
		{"who is told of it joins", nil, &grid.Membership{Number: 1, Members: change.Members, Extra: grid.NodeID{6},
			Joining: true}, false},
		{"who joins is told other members", nil, &grid.Membership{Members: other.Members, Extra: grid.NodeID{6},
			Joining: true}, true},
	} {
		r := Register{First: three}
		if err := r.Save(grid.NodeID{1}, nil, settled(change)); err != nil {
			t.Fatal(err)
		}
		if err := r.Save(grid.NodeID{3}, c.was, c.m); (err != nil) != c.fails {
			t.Errorf("%s: %v, want an error %t", c.what, err, c.fails)
		}
	}
}

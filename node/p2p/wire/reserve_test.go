package wire

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skep/grid"
)

// gangOffer is an offer of the last rank of a gang of three on two nodes.
func gangOffer() *grid.Message {
	s := *exampleSpec()
	s.Count, s.Gang.Ranks, s.Array, s.Rules, s.Sealed, s.Idempotent, s.Policy = 3, 3, nil, grid.Rules{}, "", false, ""
	s.Network = grid.NetworkGang
	s.Needs.Labels = []grid.LabelNeed{{Key: grid.IsolationLabel, Values: []string{"strict"}},
		grid.FeatureNeed(grid.GangNetworkLabel)}
	id := grid.AttemptID{Task: grid.TaskID{Job: exampleJob(), Index: 2}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	return &grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: id, Spec: &s, Class: "x", Lease: time.Minute,
		Places: []grid.RankPlace{{Node: nodeOf(testKey(1)), Ranks: 2, Shares: []uint32{30, 20}},
			{Node: nodeOf(testKey(2)), Ranks: 1, Shares: []uint32{50}}}}}
}

// An offer with places for more or fewer ranks than there are, or none, is not sent, and not taken.
func TestPlacesOfRanks(t *testing.T) {
	if err := check(gangOffer()); err != nil {
		t.Fatal(err)
	}
	for _, places := range [][]grid.RankPlace{nil, {{Node: grid.NodeID{1}, Ranks: 2}},
		{{Node: grid.NodeID{1}, Ranks: 2}, {Ranks: 1}}, {{Node: grid.NodeID{1}, Ranks: 4}},
		{{Node: grid.NodeID{1}, Ranks: 3, Shares: []uint32{1, 2}}},
		{{Node: grid.NodeID{1}, Ranks: 2, Shares: []uint32{1, 2}}, {Node: grid.NodeID{2}, Ranks: 1}}} {
		m := gangOffer()
		m.Offer.Places = places
		if check(m) == nil {
			t.Errorf("%v: want an error", places)
		}
	}
	nodes, ranks, shares := putPlaces(gangOffer().Offer.Places)
	if _, err := getPlaces(nodes[1:], ranks, shares); err == nil {
		t.Error("half a node: want an error")
	}
	if _, err := getPlaces(slices.Repeat(nodes[:nodeSize], grid.MaxRanks+1),
		slices.Repeat(ranks[:1], grid.MaxRanks+1), nil); err == nil {
		t.Error("more places than ranks: want an error")
	}
	if _, err := getPlaces(nodes, ranks, []uint32{1, 2, 3, 4}); err == nil {
		t.Error("more shares than ranks: want an error")
	}
}

// A rank that waits at its worker still knows its places after a restart.
func TestPlacesInRecord(t *testing.T) {
	o := &gangOffer().Offer
	r := &grid.Record{Kind: grid.RecWork, Work: grid.WorkRecord{ID: o.ID, Spec: o.Spec, State: grid.WorkQueued,
		Places: o.Places}}
	key, value, err := AppendRecord(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeRecord(key, value)
	if err != nil || !reflect.DeepEqual(back.Work.Places, o.Places) {
		t.Errorf("%v, %v; want %v", back, err, o.Places)
	}
}

// genGangSize makes an attempt one that the gang can have; nothing, of other jobs.
func genGangSize(t *rapid.T, s *grid.JobSpec, id *grid.AttemptID) {
	if s.Gang.Sized() {
		id.N %= 1 << 20
		id.Attempt = s.Gang.After(id.Attempt, rapid.Uint32Range(s.Gang.Min, s.Gang.Ranks).Draw(t, "size"))
		id.Task.Index %= s.Gang.RanksOf(id.Attempt)
	}
}

// genPlaces says which node has which rank of a gang; nothing, of other jobs.
func genPlaces(t *rapid.T, s *grid.JobSpec, a grid.Attempt) (places []grid.RankPlace) {
	divided := rapid.Bool().Draw(t, "divided")
	for left := s.Gang.RanksOf(a); left > 0; {
		n := rapid.Uint32Range(1, left).Draw(t, "ranks here")
		node := array[grid.NodeID](t, "place")
		node[0] = max(node[0], 1)
		p := grid.RankPlace{Node: node, Ranks: n}
		for range n {
			if divided {
				p.Shares = append(p.Shares, rapid.Uint32().Draw(t, "share"))
			}
		}
		places = append(places, p)
		left -= n
	}
	return places
}

// genDivision says how an attempt had divided its work.
func genDivision(t *rapid.T) (d grid.Division) {
	d.Ranks = rapid.Uint32Range(0, 9).Draw(t, "ranks before")
	if rapid.Bool().Draw(t, "divided before") {
		for range d.Ranks {
			d.Shares = append(d.Shares, rapid.Uint32().Draw(t, "share before"))
		}
	}
	return d
}

// Shares of an attempt before are those of all its ranks, or none.
func TestDivisionBefore(t *testing.T) {
	s := exampleGang(t, nil)
	for _, c := range []struct {
		before grid.Division
		ok     bool
	}{{grid.Division{}, true}, {grid.Division{Ranks: 9}, true}, {grid.Division{Ranks: 2, Shares: []uint32{7, 0}}, true},
		{grid.Division{Ranks: 2, Shares: []uint32{7}}, false}, {grid.Division{Shares: []uint32{7}}, false},
		{grid.Division{Ranks: grid.MaxRanks + 1}, false}} {
		o := grid.Offer{Spec: s, Before: c.before}
		o.ID.Task.Job, o.ID.Attempt = exampleJob(), grid.Attempt{Epoch: 1, N: 2}
		if err := offer(&o); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.before, err)
		}
	}
	if err := checkpoint(&grid.Checkpoint{Shares: make([]uint32, grid.MaxRanks+1)}); err == nil {
		t.Error("a checkpoint of more shares than ranks passes")
	}
}

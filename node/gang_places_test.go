package node

import (
	"testing"
	"time"

	"skep/grid"
)

// A node takes a rank with a network of its gang only where the offer says that the rank is placed at it.
func TestRankIsTakenWhereItIsPlaced(t *testing.T) {
	s := spec(func(s *grid.JobSpec) {
		s.Count, s.Gang.Ranks, s.Network = 2, 2, grid.NetworkGang
		s.Needs.Labels = []grid.LabelNeed{{Key: grid.IsolationLabel, Values: []string{"strict"}},
			grid.FeatureNeed(grid.GangNetworkLabel)}
	})
	for _, c := range []struct {
		places []grid.RankPlace
		taken  bool
	}{
		{[]grid.RankPlace{{Node: fastID, Ranks: 1}, {Node: selfID, Ranks: 1}}, true},
		{[]grid.RankPlace{{Node: selfID, Ranks: 1}, {Node: fastID, Ranks: 1}}, false},
		{nil, false},
	} {
		r := newRig(t, func(c *Config) {
			c.Labels = []grid.Label{{Key: grid.IsolationLabel, Value: "strict"},
				{Key: grid.GangNetworkLabel, Value: grid.FeatureValue}}
		})
		r.join(fastID, 1, "linux")
		id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{1}}, Index: 1},
			Attempt: grid.Attempt{Epoch: 1, N: 1}}
		r.deliver(fastID, grid.KindReserve, func(m *grid.Message) {
			m.Reserve = &grid.Reserve{Job: id.Task.Job, Attempt: id.Attempt, Round: 1, Ranks: 1, Needs: s.Needs.Resources,
				TTL: 10 * time.Second}
		})
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: id, Spec: s, Class: grid.ClassOf(s), Lease: time.Minute, Places: c.places}
		})
		if n := len(r.sent(grid.KindAccept)); (n == 1) != c.taken || len(r.sent(grid.KindRefuse)) > 0 {
			t.Errorf("places %v: %d acceptances, %d refusals; want it taken: %v", c.places, n, len(r.sent(grid.KindRefuse)),
				c.taken)
		}
	}
}

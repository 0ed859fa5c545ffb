package node

import (
	"testing"

	"skep/grid"
	"skep/node/profile"
)

// Labels state a node's class: a class-based policy gives a task to a node of its class, without a message where
// classes alone decide, and by the queue lengths where those do.
func TestClassBasedPoliciesReadLabels(t *testing.T) {
	labels := func(r *rig, id grid.NodeID, n uint64, class string) {
		ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: n}, Name: "peer", Speed: 1, Availability: 1,
			Capacity: grid.Resources{CPU: grid.CPU}, Free: grid.Resources{CPU: grid.CPU}, Engines: []string{grid.EngineProcess},
			Labels: []grid.Label{{Key: profile.LabelClass, Value: class}, {Key: profile.LabelCluster, Value: "x"}}}
		r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
	}
	large := func(s *grid.JobSpec) {
		s.Class, s.Needs = "large", grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}
	}
	for _, policy := range []string{"cb", "cb_rr", "cb_lis"} {
		r := newRig(t, func(c *Config) {
			c.Policy = policy
			c.Labels = []grid.Label{{Key: profile.LabelClass, Value: "small"}, {Key: profile.LabelCluster, Value: "x"}}
		})
		r.join(fastID, 1, "linux")
		r.join(slowID, 1, "linux")
		labels(r, fastID, 2, "small")
		labels(r, slowID, 2, "large")
		r.submit(jobID(1), spec(large))
		if policy == "cb_lis" {
			if p := r.one(grid.KindPoll); p.To != slowID {
				t.Errorf("%s: asked %v, want the node for large tasks", policy, p.To)
			}
			r.answer(slowID)
		}
		if o := r.one(grid.KindOffer); o.To != slowID {
			t.Errorf("%s: offered to %v, want the node for large tasks", policy, o.To)
		}
		labels(r, fastID, 3, "large")
		r.submit(jobID(2), spec(large))
		if policy != "cb_lis" {
			r.one(grid.KindOffer)
			continue
		}
		for _, p := range append([]grid.Send(nil), r.sent(grid.KindPoll)...) {
			id := p.Msg.Poll.ID
			waiting := int32(3)
			if p.To == fastID {
				waiting = 1
			}
			r.deliver(p.To, grid.KindState, func(m *grid.Message) {
				m.State = grid.State{ID: id, ECT: 1e9, Speed: 1, Cores: grid.CPU, Mine: 1, Waiting: waiting, Running: 1}
			})
		}
		if o := r.one(grid.KindOffer); o.To != fastID {
			t.Errorf("offered to %v, want the one with the shorter queue", o.To)
		}
	}
}

// A node reports what is ahead of a task: how many wait and run, and how much of the running one is done.
func TestPollAnswerDescribesQueue(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	for k := range byte(3) {
		id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{k}}},
			Attempt: grid.Attempt{Epoch: 1, N: 1}}
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: id, Spec: spec(nil), Class: "a", Lease: 1e10}
		})
	}
	r.now += 4e8
	r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
		m.Poll = grid.Poll{ID: 5, Class: "a", Needs: oneCore, Speed: 1, Cores: grid.CPU}
	})
	s := r.one(grid.KindState).Msg.State
	// A task of a class that nobody has run is assumed to take a second.
	if s.Waiting != 2 || s.Running != 1 || s.Ran/1e8 != 4 || (s.Rest+1e6)/1e8 != 6 {
		t.Errorf("%d wait and %d run, %v behind and %v left: want 2, 1, 400ms, 600ms", s.Waiting, s.Running, s.Ran, s.Rest)
	}
}

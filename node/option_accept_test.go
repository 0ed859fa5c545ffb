package node

import (
	"testing"
	"time"

	"skep/grid"
	"skep/requirement"
)

// joinAccepting connects a node of eight free cores that says what it accepts.
func joinAccepting(r *rig, id grid.NodeID, accept string) {
	r.t.Helper()
	x, err := requirement.Parse(accept, requirement.Accept)
	if err != nil {
		r.t.Fatal(err)
	}
	r.join(id, 1, "plan9")
	cores := grid.Resources{CPU: 8 * grid.CPU}
	ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: 9}, Speed: 1, Availability: 1, Capacity: cores, Free: cores,
		Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: "os", Value: "plan9"},
			{Key: grid.OptionLabel, Value: grid.FeatureValue}}}
	ad.Accept = x
	r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
}

// A node is offered a task only as an option that it accepts, however much sooner another one would end; and one that
// accepts no option, though it accepts what all of them need, is not asked.
func TestNodesAcceptOptions(t *testing.T) {
	for accept, option := range map[string]uint8{"job.cpu <= 2.0": 2, "job.cpu >= 8.0": 1, "job.cpu < 2.0": 0,
		"job.cpu <= 8.0": 1} {
		r := newRig(t, nil)
		joinAccepting(r, fastID, accept)
		joinAccepting(r, slowID, accept)
		r.submit(jobID(1), spec(func(x *grid.JobSpec) { elsewhere(x); ways(way(8, 4, 1), way(2, 1, 1))(x) }))
		if polls := len(r.sent(grid.KindPoll)); (polls > 0) != (option > 0) {
			t.Errorf("accept %s: %d polls", accept, polls)
			continue
		}
		if option == 0 {
			continue
		}
		answerOptions(r, grid.OptionState{ECT: time.Second}, grid.OptionState{ECT: 4 * time.Second})
		if got := r.one(grid.KindOffer).Msg.Offer.Option; got != option {
			t.Errorf("accept %s: offered as option %d, want %d", accept, got, option)
		}
	}
}

// An answer that speaks of no option has the task offered as the first that the node fits and accepts.
func TestAnswersWithoutOptionsMeanOneThatIsAccepted(t *testing.T) {
	r := newRig(t, nil)
	joinAccepting(r, fastID, "job.cpu <= 2.0")
	joinAccepting(r, slowID, "job.cpu <= 2.0")
	r.submit(jobID(1), spec(func(x *grid.JobSpec) { elsewhere(x); ways(way(8, 4, 1), way(2, 1, 1))(x) }))
	answerOptions(r)
	if got := r.one(grid.KindOffer).Msg.Offer.Option; got != 2 {
		t.Errorf("offered as option %d, want 2", got)
	}
}

// This node runs what it is submitted as an option that it accepts.
func TestThisNodeAcceptsOptions(t *testing.T) {
	x, err := requirement.Parse("job.cpu <= 2.0", requirement.Accept)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *Config) { wide(c); c.Accept = x })
	r.submit(jobID(1), spec(func(x *grid.JobSpec) { ways(way(8, 4, 1), way(2, 1, 1))(x) }))
	if v := r.task(jobID(1)); v.State != grid.Placed || v.Option != 2 {
		t.Errorf("task %v as option %d, want placed as 2", v.State, v.Option)
	}
}

// A refusal of an option says nothing for good of the others: the task waits for the node, and is offered to it again.
func TestRefusalsOfAnOptionPass(t *testing.T) {
	r := newRig(t, nil)
	joinWide(r, fastID, 8, 8)
	r.submit(jobID(1), spec(func(x *grid.JobSpec) { elsewhere(x); ways(way(8, 4, 1), way(2, 1, 1))(x) }))
	o := r.one(grid.KindOffer)
	r.deliver(o.To, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal.Why = []grid.AttemptID{o.Msg.Offer.ID}, grid.WhyAccept
	})
	if v := r.task(jobID(1)); v.State != grid.Pending || v.Waits.Why != grid.WhyAccept {
		t.Fatalf("task %v, waits for %v, result %+v: want it to wait for the node", v.State, v.Waits.Why, v.Result)
	}
	for range 40 {
		if r.pass(time.Second); len(r.sent(grid.KindOffer)) > 0 {
			return
		}
	}
	t.Error("offered to the node no more")
}

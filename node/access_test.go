package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
	"skep/requirement"
)

// ownerOnly makes a job visible to its owner only.
func ownerOnly(s *grid.JobSpec) { s.Capability = grid.CapabilityHash{1} }

var oldA, oldB, newA, newB = grid.NodeID{11}, grid.NodeID{12}, grid.NodeID{13}, grid.NodeID{14}

// A job under access: owner is not offered to a node of the version before, which would show it to any member: a task
// that only such a node could run ends, with that reason.
func TestOwnerOnlyJobIsNotOfferedToOldVersion(t *testing.T) {
	plan9 := func(s *grid.JobSpec) { s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}} }
	r := newRig(t, nil)
	r.joinAs(oldA, 10, "plan9", 0)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { plan9(s); ownerOnly(s) }))
	for end := r.now.Add(time.Minute); r.task(jobID(1)).State != grid.Ended && r.now < end; {
		if len(r.sent(grid.KindOffer))+len(r.sent(grid.KindPoll)) > 0 {
			t.Fatal("the old node is asked or offered a task")
		}
		r.pass(time.Second)
	}
	if v := r.task(jobID(1)); v.Result == nil || v.Result.Cause != grid.Unplaceable ||
		!strings.Contains(v.Result.Error, grid.WhyAccess.String()) {
		t.Errorf("%v, %+v: want it unplaceable, since the node is of an older version", v.State, v.Result)
	}
	r.submit(jobID(2), spec(plan9))
	if s := r.sent(grid.KindOffer); len(s) != 1 || s[0].To != oldA {
		t.Errorf("a job that members may see: %v, want it offered to the old node", kindsOf(r.fx.Sends))
	}
	r.joinAs(newA, 1, "plan9", grid.AllFeatures)
	r.submit(jobID(3), spec(func(s *grid.JobSpec) { plan9(s); ownerOnly(s) }))
	if s := r.sent(grid.KindOffer); len(s) != 1 || s[0].To != newA {
		t.Errorf("with a newer node: %v, want it offered to that one", kindsOf(r.fx.Sends))
	}
}

// chooseMembers answers all probes until a job's members are chosen, and returns them; nil = this node alone.
func (r *rig) chooseMembers(id grid.JobID, all ...grid.NodeID) []grid.NodeID {
	r.t.Helper()
	for end := r.now.Add(time.Minute); r.now < end; r.pass(submissionTick, grid.TimerRegister) {
		for _, who := range all {
			r.answerKeepalive(who)
		}
		if v, ok := r.n.Job(id); ok {
			return v.Members
		}
	}
	r.t.Fatal("its members were never chosen")
	return nil
}

// Nodes of the version before do not become members of its register either; without others the job has no register.
func TestOwnerOnlyJobIsNotReplicatedToOldVersion(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members, c.Policy = 3, "local" })
	r.joinAs(oldA, 1, "linux", 0)
	r.joinAs(oldB, 1, "linux", 0)
	r.submit(jobID(1), spec(ownerOnly))
	if m := r.chooseMembers(jobID(1), oldA, oldB); m != nil {
		t.Errorf("kept by %v: want the origin alone", m)
	}
	if v, _ := r.n.Job(jobID(1)); !strings.Contains(r.n.Underreplicated(&v), "this node alone keeps the job") ||
		!strings.Contains(r.n.Underreplicated(&v), "older versions") {
		t.Errorf("Underreplicated says %q: want that one node keeps it, and why", r.n.Underreplicated(&v))
	}
	r.submit(jobID(2), spec(nil))
	if m := r.chooseMembers(jobID(2), oldA, oldB); len(m) != 3 {
		t.Errorf("a job that members may see is kept by %v: want three", m)
	}
	r.joinAs(newA, 1, "linux", grid.AllFeatures)
	r.joinAs(newB, 1, "linux", grid.AllFeatures)
	for i := range byte(8) {
		r.submit(jobID(10+i), spec(ownerOnly))
		if m := r.chooseMembers(jobID(10+i), oldA, oldB, newA, newB); len(m) != 3 || slices.Contains(m, oldA) ||
			slices.Contains(m, oldB) {
			t.Errorf("kept by %v: want the origin and the two newer nodes", m)
		}
	}
}

// A job without eligible members does not delay other jobs.
func TestOwnerOnlyJobDelaysNoOther(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members, c.Policy, c.Known = 3, "local", 4 })
	r.joinAs(oldA, 1, "linux", 0)
	r.joinAs(oldB, 1, "linux", 0)
	// its ad has not come yet
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: newA, RTT: time.Millisecond, Kinds: grid.AllKinds,
		Features: grid.AllFeatures})
	r.submit(jobID(1), spec(ownerOnly))
	r.submit(jobID(2), spec(nil))
	began := r.now
	if m := r.chooseMembers(jobID(2), oldA, oldB); len(m) != 3 || r.now.Sub(began) > time.Second {
		t.Errorf("kept by %v after %v: want three at once", m, r.now.Sub(began))
	}
}

// Nodes of versions without a feature that a job needs of its members do not become members of its register.
func TestMembersHaveTheFeaturesOfTheJob(t *testing.T) {
	for _, x := range []struct {
		lacking grid.Feature
		job     *grid.JobSpec
	}{
		{grid.FeatureReruns, spec(func(s *grid.JobSpec) { s.Rules.OnFailure.Retry = 1 })},
		{grid.FeatureDeadlines, spec(func(s *grid.JobSpec) { s.Rules.Deadline.At = time.Hour })},
		{grid.FeatureBudgets, spec(func(s *grid.JobSpec) { s.Rules.Budget = 3600 })},
		{grid.FeatureRequirements, requiring(t, "node.speed > 0.5", "")},
		{grid.FeatureRequirements, spec(func(s *grid.JobSpec) {
			s.Rules.Rank = expression(t, "node.speed", requirement.Rank)
		})},
		{grid.FeatureOptions, spec(func(s *grid.JobSpec) {
			s.Needs.SetOptions([]grid.Option{{Resources: s.Needs.Resources, Speedup: 1, Value: 1}})
		})},
		{grid.FeatureOffers, spec(func(s *grid.JobSpec) { s.Retries, s.RecordsOffers = 0, true })},
		{grid.FeatureGangs, gangOnPorts()},
		{grid.FeaturePorts, gangOnPorts()},
	} {
		if err := x.job.Check(); err != nil || !x.job.MemberFeatures().Has(x.lacking) {
			t.Errorf("feature %d: the job needs %b, %v", x.lacking, x.job.MemberFeatures(), err)
			continue
		}
		r := newRig(t, func(c *Config) { c.Members, c.Policy = 3, "local" })
		for _, id := range []grid.NodeID{oldA, oldB} {
			r.joinAs(id, 1, "linux", grid.AllFeatures&^(1<<x.lacking))
		}
		for _, id := range []grid.NodeID{newA, newB} {
			r.joinAs(id, 1, "linux", grid.AllFeatures)
		}
		for i := range byte(8) {
			r.submit(jobID(i), x.job)
			if m := r.chooseMembers(jobID(i), oldA, oldB, newA, newB); len(m) != 3 || slices.Contains(m, oldA) ||
				slices.Contains(m, oldB) {
				t.Errorf("feature %d: kept by %v, want the origin and the two nodes that have it", x.lacking, m)
				break
			}
		}
	}
}

// gangOnPorts is a gang whose ranks reach each other on a port.
func gangOnPorts() *grid.JobSpec {
	return spec(func(s *grid.JobSpec) {
		s.Count, s.Gang.Ranks, s.Network = 2, 2, grid.NetworkGang
		s.Needs.Labels = []grid.LabelNeed{{Key: grid.IsolationLabel, Values: grid.IsolationStrict.AtLeast()},
			grid.FeatureNeed(grid.GangPortsLabel)}
		s.Gang.Ports[0] = 8000
	})
}

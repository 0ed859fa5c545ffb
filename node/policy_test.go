package node

import (
	"fmt"
	"testing"

	"skep/balance"
	"skep/grid"
)

// A policy that no unfinished job names is removed: else a client that submits a thousand jobs with different
// parameters would leave a thousand tables of all peers. The default policy and those in use stay.
func TestUnusedPoliciesAreRemoved(t *testing.T) {
	checkPoliciesRemoved(t, 1, 1)
	checkPoliciesRemoved(t, 1, 65) // not packed when it is over
	checkPoliciesRemoved(t, 3, 1)
}

func checkPoliciesRemoved(t *testing.T, members int, count uint32) {
	t.Helper()
	r := newRig(t, func(c *Config) { c.Members = members })
	want := []grid.LabelNeed{{Key: "os", Values: []string{"none"}}}
	submit := func(i int, name string) grid.JobID {
		id := jobID(byte(i))
		r.submit(id, spec(func(s *grid.JobSpec) { s.Count, s.Policy, s.Needs.Labels = count, name, want }))
		return id
	}
	found := func(name string) balance.Policy {
		p, err := r.n.peers.Policies().Get(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	submit(0, "kpb:3")
	own, named := found(r.cfg.Policy), found("kpb:3")
	for i := 1; i < 200; i++ {
		id := submit(i, fmt.Sprintf("guided_lpas:%d", i))
		r.step(grid.Event{Kind: grid.EvCancel, Caller: 9, Job: id})
		if got := r.n.peers.Policies().Len(); got > 32 {
			t.Fatalf("%d members, jobs of %d: %d policies after %d jobs, of which one is not over", members, count, got, i+1)
		}
	}
	if found(r.cfg.Policy) != own || found("kpb:3") != named {
		t.Errorf("%d members, jobs of %d: policies in use are others now", members, count)
	}
}

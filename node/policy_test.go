package node

import (
	"fmt"
	"testing"

	"skep/balance"
	"skep/grid"
)

// A policy that no unfinished job names is let go, or whoever submits a thousand jobs with a parameter of his own each would leave a thousand
// tables of all peers. The node's own and those that are named stay as they are.
func TestPoliciesThatNobodyNamesGo(t *testing.T) {
	r := newRig(t, nil)
	want := []grid.LabelNeed{{Key: "os", Values: []string{"none"}}}
	submit := func(i int, name string) grid.JobID {
		id := jobID(byte(i))
		r.submit(id, spec(func(s *grid.JobSpec) { s.Policy, s.Needs.Labels = name, want }))
		return id
	}
	found := func(name string) balance.Policy {
		at, ok := r.n.findPolicy(name)
		if !ok {
			t.Fatalf("policy %q is gone", name)
		}
		return r.n.policies[at].Policy
	}
	submit(0, "kpb:3")
	own, named := found(r.n.cfg.Policy), found("kpb:3")
	for i := 1; i < 200; i++ {
		id := submit(i, fmt.Sprintf("guided_lpas:%d", i))
		r.step(grid.Event{Kind: grid.EvCancel, Caller: 9, Job: id})
		if len(r.n.policies) > idlePolicies+1 {
			t.Fatalf("%d policies after %d jobs, of which one is not over", len(r.n.policies), i+1)
		}
	}
	if found(r.n.cfg.Policy) != own || found("kpb:3") != named {
		t.Error("policies in use are others now")
	}
}

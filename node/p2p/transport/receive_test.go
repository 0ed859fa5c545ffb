package transport

import (
	"testing"

	"skep/grid"
)

// A job of another origin is accepted with that origin's signature only, whoever sends it. A member that knows the job
// still hears a write or a campaign about it.
func TestRelayedJobsMustBeSigned(t *testing.T) {
	origin, keeper := grid.NodeID{1}, grid.NodeID{2}
	job := grid.JobID{Origin: origin}
	plain, sealed := &grid.JobSpec{}, &grid.JobSpec{Seal: grid.Seal{Sealed: "by its origin"}}
	for _, c := range []struct {
		from grid.NodeID
		spec *grid.JobSpec
		want bool
	}{{origin, plain, false}, {origin, sealed, false}, {keeper, plain, true}, {keeper, sealed, false},
		{keeper, nil, false}} {
		offer := grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: job}},
			Spec: c.spec}}
		if got := dropUnsigned(&offer, c.from); got != c.want {
			t.Errorf("offer from %v, signed %v: dropped %v, want %v", c.from[0], c.spec == sealed, got, c.want)
		}
		write := grid.Message{Kind: grid.KindWrite, Register: grid.RegisterMessage{Job: job, Spec: c.spec,
			Members: []grid.NodeID{origin}}}
		dropped := dropUnsigned(&write, c.from)
		if r := &write.Register; dropped || (r.Spec != c.spec) != c.want || (len(r.Members) == 0) != c.want {
			t.Errorf("write from %v, signed %v: dropped %v, specification %v, %d members", c.from[0], c.spec == sealed, dropped,
				r.Spec, len(r.Members))
		}
	}
}

package p2p

import (
	"testing"

	"skep/grid"
)

// A job of another origin is accepted with that origin's signature only, whoever sends it.
func TestRelayedJobsMustBeSigned(t *testing.T) {
	origin, keeper := grid.NodeID{1}, grid.NodeID{2}
	job := grid.JobID{Origin: origin}
	plain, sealed := &grid.JobSpec{}, &grid.JobSpec{Sealed: "by its origin"}
	for _, c := range []struct {
		from grid.NodeID
		spec *grid.JobSpec
		want bool
	}{{origin, plain, false}, {origin, sealed, false}, {keeper, plain, true}, {keeper, sealed, false}, {keeper, nil, false}} {
		offer := grid.Message{Kind: grid.KindOffer, Offer: grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: job}}, Spec: c.spec}}
		guard := grid.Message{Kind: grid.KindWrite, Register: grid.RegisterMessage{Job: job, Spec: c.spec}}
		for _, m := range []grid.Message{offer, guard} {
			if got := unsigned(&m, c.from); got != c.want {
				t.Errorf("kind %v from %v, signed %v: dropped %v, want %v", m.Kind, c.from[0], c.spec == sealed, got, c.want)
			}
		}
	}
}

package node

import (
	"testing"

	"skep/grid"
)

// A node that cannot reach what runs its tasks takes none, neither of others nor its own, and says so in its ad; it
// takes some again as soon as it can.
func TestAwayNodeTakesNothing(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	engine := func(away bool) { r.step(grid.Event{Kind: grid.EvEngine, Low: away}) }
	engine(true)
	if r.offer(fastID, foreignAttempt(1), spec(nil)); len(r.fx.Starts) > 0 {
		t.Error("it starts what it cannot run")
	}
	if m := r.one(grid.KindRefuse).Msg; m.Refusal.Why != grid.WhyAway {
		t.Errorf("it refuses since it %v, want since it %v", m.Refusal.Why, grid.WhyAway)
	}
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Policy = "local" }))
	if len(r.fx.Starts) > 0 {
		t.Error("it starts its own task")
	}
	peers := r.n.Peers(r.now, nil)
	for _, p := range peers {
		if p.Self && (p.Refuses != grid.WhyAway || !p.Ad.Away || !p.Ad.Shut()) {
			t.Errorf("it shows %v, ad away %t, shut %t: want that it takes nothing", p.Refuses, p.Ad.Away, p.Ad.Shut())
		}
	}
	engine(false)
	if len(r.fx.Starts) != 1 {
		t.Errorf("%d start once it can be reached: want its own task", len(r.fx.Starts))
	}
	if r.offer(fastID, foreignAttempt(2), spec(nil)); len(r.fx.Starts)+len(r.sent(grid.KindAccept)) == 0 {
		t.Error("it takes nothing, though it can be reached")
	}
}

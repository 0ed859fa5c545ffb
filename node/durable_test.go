package node

import (
	"testing"

	"skep/grid"
)

// A durable node takes over what ran before it was restarted, though its capacity is less by then. What turns out never
// to have run waits again, and starts as any other once its owner has granted a start lease.
func TestDurableAttemptIsTakenOver(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Durable = true })
	r.join(fastID, 1, "linux")
	id := foreignAttempt(2)
	r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: id, Class: "a", Lease: r.cfg.Lease, Stamp: r.n.worker.Stamp(r.now),
			Spec: spec(func(s *grid.JobSpec) { s.Needs.CPU = grid.CPU })}
	})
	if len(r.fx.Starts) != 1 || r.fx.Starts[0].Again {
		t.Fatalf("starts %+v: want one", r.fx.Starts)
	}
	r.cfg.Capacity.CPU = grid.CPU / 2
	r = r.restart()
	if len(r.fx.Starts) != 1 || !r.fx.Starts[0].Again || r.fx.Starts[0].Attempt != id || len(r.sent(grid.KindResult)) > 0 {
		t.Fatalf("after a restart: %+v: want that it is taken over", r.fx)
	}
	r.join(fastID, 1, "linux")
	if free := r.n.worker.Exec().Free(); free.CPU != 0 {
		t.Errorf("free %v: want that it has its core", free)
	}
	r.step(grid.Event{Kind: grid.EvLate, Attempt: id})
	if len(r.fx.Starts) > 0 {
		t.Fatalf("it never ran: %+v: want that it waits", r.fx.Starts)
	}
	r.pass(r.cfg.Lease/3, grid.TimerBeat)
	m := r.one(grid.KindStartLease)
	if m.To != fastID {
		t.Fatalf("%+v: want that its owner is asked for a start lease", m)
	}
	r.deliver(fastID, grid.KindStartLeaseAck, func(a *grid.Message) {
		a.Register.Seq, a.Attempts = m.Msg.Register.Seq, []grid.AttemptID{id}
	})
	if len(r.fx.Starts) != 1 || r.fx.Starts[0].Again {
		t.Errorf("starts %+v: want that it starts anew", r.fx.Starts)
	}
}

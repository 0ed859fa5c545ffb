package node

import (
	"testing"
	"time"

	"skep/grid"
)

// A node keeps no slots for later behind a task that it expects to run for longer than they would be kept.
func TestLaterSlotsBehindLongTask(t *testing.T) {
	for rate, want := range map[float64]grid.Why{0.01: grid.WhyBusy, 10: grid.WhyNone} {
		r := newRig(t, nil)
		r.join(fastID, 10, "linux")
		r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 1, Class: "a", Needs: oneCore, Speed: 10, Cores: grid.CPU, Mine: 5,
				Rates: []grid.Rate{{Class: "a", Mu: rate}}}
		})
		r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Class, s.Policy = "a", "local" }))
		if len(r.fx.Starts) != 1 {
			t.Fatalf("%d tasks start: want the one that is submitted", len(r.fx.Starts))
		}
		r.deliver(fastID, grid.KindReserve, func(m *grid.Message) {
			m.Reserve = &grid.Reserve{Job: grid.JobID{Origin: fastID}, Attempt: grid.Attempt{Epoch: 1, N: 1}, Round: 1,
				Ranks: 1, Needs: oneCore, TTL: 10 * time.Second, Later: true}
		})
		got := grid.WhyNone
		for _, s := range r.sent(grid.KindReserveAck) {
			got = s.Msg.Reserve.Refusal.Why
		}
		if got != want {
			t.Errorf("a task of %g s runs: refused since it %v, want %v", 10/rate, got, want)
		}
	}
}

// The slot of a rank that is accepted and waits for its start lease counts as reserved.
func TestAcceptedRankIsReserved(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	reserved := func(when string) {
		t.Helper()
		if cores, _, _ := r.n.Reserved(); cores != grid.CPU {
			t.Errorf("%s: %d thousandths of a core are reserved, want one core", when, cores)
		}
	}
	r.deliver(fastID, grid.KindReserve, func(m *grid.Message) {
		m.Reserve = &grid.Reserve{Job: id.Task.Job, Attempt: id.Attempt, Round: 1, Ranks: 1, Needs: oneCore,
			TTL: 10 * time.Second}
	})
	reserved("kept")
	s := spec(func(s *grid.JobSpec) { s.Count, s.Gang.Ranks = 2, 2 })
	r.step(grid.Event{Kind: grid.EvMessage, Peer: fastID, Msg: &grid.Message{Kind: grid.KindOffer, // without a stamp
		Offer: grid.Offer{ID: id, Spec: s, Class: grid.ClassOf(s), Lease: time.Minute}}})
	r.one(grid.KindAccept)
	reserved("accepted")
}

package node

import (
	"slices"
	"testing"

	"skep/grid"
)

// A node that takes over many jobs is told once of each attempt, in as many messages as there are attempts: repeated
// reports of all of them would look like deliberate repeats.
func TestNewOwnerIsToldOnceOfEachAttempt(t *testing.T) {
	const jobs = 50
	r := newRig(t, func(c *Config) { c.Capacity.CPU = jobs * grid.CPU })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	members := []grid.NodeID{fastID, slowID, {4}}
	job := func(i int) grid.JobID { return grid.JobID{Origin: fastID, Nonce: [10]byte{1, byte(i)}} }
	about := func(i int) grid.AttemptID {
		return grid.AttemptID{Task: grid.TaskID{Job: job(i)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	}
	for i := range jobs {
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: about(i), Spec: spec(nil), Class: "a", Lease: r.cfg.Lease, Members: members}
		})
		if i%2 == 0 { // the others run
			r.step(grid.Event{Kind: grid.EvEnded, Attempt: about(i), Result: exitZero})
		}
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	reports := make(map[grid.AttemptID]int)
	for i := range jobs {
		r.deliver(slowID, grid.KindTakeover, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: job(i), Epoch: 2, Owner: slowID}
		})
		for _, s := range slices.Concat(r.sent(grid.KindResult), r.sent(grid.KindBeat)) {
			for _, id := range s.Msg.Attempts {
				if s.To == slowID {
					reports[id]++
				}
			}
		}
	}
	for i := range jobs {
		if n := reports[about(i)]; n != 1 {
			t.Fatalf("the new owner is told %d times of the attempt of job %d, want once", n, i)
		}
	}
}

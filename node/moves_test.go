package node

import (
	"testing"
	"time"

	"skep/grid"
)

// A task moves three times at most, whoever owns its job. How often the attempt that a new owner adopts has moved is
// bounded by its number in the first epoch: from the third on, the next one stays. That it moves now is no refusal all
// the same.
func TestAdoptedAttemptMovesThriceAtMost(t *testing.T) {
	for _, c := range []struct {
		adopted grid.Attempt
		stays   bool // the one that follows
	}{
		{grid.Attempt{Epoch: 1, N: 2}, false}, {grid.Attempt{Epoch: 1, N: 3}, true}, {grid.Attempt{Epoch: 1, N: 9}, true},
	} {
		r := newMember(t)
		r.join(thirdID, 1, "linux")
		r.trust(thirdID)
		r.takeOver()
		id := replicatedAt(1)
		id.Attempt = c.adopted
		pull := func(from, to grid.NodeID) {
			r.deliver(from, grid.KindRefuse, func(m *grid.Message) {
				m.Attempts, m.Refusal, m.Puller = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyPulled}, to
			})
		}
		r.deliverFor(slowID, grid.KindBeat, id, nil)
		pull(slowID, thirdID)
		if o := r.one(grid.KindOffer); o.To != thirdID || !o.Msg.Offer.Pulled || o.Msg.Offer.Stays != c.stays {
			t.Fatalf("%v: offer %+v to %v: want that it goes to the node that asked, and stays there: %v", c.adopted,
				o.Msg.Offer, o.To.Short(), c.stays)
		}
		if !c.stays {
			continue
		}
		id = r.one(grid.KindOffer).Msg.Offer.ID
		r.deliverFor(thirdID, grid.KindAccept, id, nil)
		pull(thirdID, slowID) // a worker that is false
		for _, o := range r.sent(grid.KindOffer) {
			if o.Msg.Offer.Pulled || !o.Msg.Offer.Stays {
				t.Errorf("%v: it moves again, to %v", c.adopted, o.To.Short())
			}
		}
	}
}

// An attempt that its worker gave to an idle node has moved, and one that it gave back otherwise has not, however its
// owner hears of it: by the refusal, by the answer when the worker connects again, or by that before the attempt's
// lease ends.
func TestMovesAreCountedHoweverTheyAreHeardOf(t *testing.T) {
	hears := map[string]func(*rig){
		"at once": func(*rig) {},
		"when it connects again": func(r *rig) {
			r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
			r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds,
				Features: grid.AllFeatures})
			r.one(grid.KindAsk)
		},
		"before the lease ends": func(r *rig) {
			r.pass(r.cfg.Lease, grid.TimerLease)
			r.one(grid.KindAsk)
		},
		"before the lease ends that began when it connected again": func(r *rig) {
			r.pass(r.cfg.Lease, grid.TimerLease)
			r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
			r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds,
				Features: grid.AllFeatures})
			r.pass(r.cfg.Lease, grid.TimerLease)
			r.one(grid.KindAsk)
		},
	}
	for why, want := range map[grid.Why]uint8{grid.WhyPulled: 1, grid.WhyDrain: 0} {
		for how, heard := range hears {
			r := newRig(t, nil)
			r.join(fastID, 10, "linux")
			id := r.offered(jobID(1), spec(func(s *grid.JobSpec) { s.Retries = 0 }), fastID)
			r.deliverFor(fastID, grid.KindAccept, id, nil)
			r.join(slowID, 1, "linux") // the node that asks
			heard(r)
			r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
				m.Attempts, m.Refusal, m.Puller = []grid.AttemptID{id}, grid.Refusal{Why: why}, slowID
			})
			v, e := r.task(jobID(1)), r.disk["entry "+id.Task.String()].Entry
			if e.Pulls != want || v.Lost != 0 || v.State == grid.Ended {
				t.Errorf("%v, heard of %s: it has moved %d times, lost %d, %v; want %d, and that it goes on", why, how,
					e.Pulls, v.Lost, v.State, want)
			}
		}
	}
}

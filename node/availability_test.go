package node

import (
	"math"
	"slices"
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

// capacityRecorder is a policy that records the capacities and the arrivals that it is told.
type capacityRecorder struct {
	balance.Policy
	slots map[grid.NodeID]float64
	alpha map[grid.NodeID]float64
	gone  []grid.NodeID
}

func (p *capacityRecorder) Note(o balance.Outcome) {
	switch o.Kind {
	case balance.Rates:
		p.slots[o.Node], p.alpha[o.Node] = o.Slots, 0
		for _, r := range o.Rates {
			p.alpha[o.Node] += r.Alpha
		}
	case balance.Gone:
		p.gone = append(p.gone, o.Node)
	}
	p.Policy.Note(o)
}

// withRecorder is a rig whose default policy is a capacityRecorder.
func withRecorder(t *testing.T, change func(*Config)) (*rig, *capacityRecorder) {
	r := newRig(t, change)
	own, _ := r.n.peers.Policies().Get(r.cfg.Policy)
	p := &capacityRecorder{Policy: own, slots: map[grid.NodeID]float64{}, alpha: map[grid.NodeID]float64{}}
	r.n.peers.Policies().Use(r.cfg.Policy, p)
	return r, p
}

// available makes a peer publish its availability.
func (r *rig) available(id grid.NodeID, seq uint64, a float64) {
	known := *r.n.gossip.Peer(id).Ad
	known.Availability, known.Seq = a, grid.Seq{Boot: 9, N: seq}
	r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = append(m.Digest, grid.AdEntry{Ad: &known}) })
}

func (r *rig) measured(left, up float64) {
	r.step(grid.Event{Kind: grid.EvAvailable, Observed: grid.Observed{Available: grid.Available{Left: left, Up: up}}})
}

// LPAS_DG: "sum_i delta_{i,j} <= a_j": the capacity of a node in the allocation is its availability times its slots,
// for this node as for others.
func TestCapacityIsAvailabilityTimesSlots(t *testing.T) {
	r, p := withRecorder(t, func(c *Config) { c.Capacity.CPU = 4 * grid.CPU })
	r.join(fastID, 1, "linux")
	r.measured(0.5, 0.8)
	r.available(fastID, 1, 0.25)
	r.submit(jobID(1), spec(nil))
	if s := p.slots[selfID]; math.Abs(s-4*0.4) > 1e-9 {
		t.Errorf("four cores of which others leave a half, up for 0.8 of the time: capacity %g, want 1.6", s)
	}
	if s := p.slots[fastID]; s != 0.25 {
		t.Errorf("one core that is there for a quarter: capacity %g, want 0.25", s)
	}
	if a := r.n.Describe(r.now).Availability; math.Abs(a-0.4) > 1e-9 {
		t.Errorf("its ad says %g, want 0.4", a)
	}
	for _, odd := range []float64{math.NaN(), -1, 0, math.Inf(1)} {
		r.measured(odd, odd)
		r.submit(jobID(2), spec(nil))
		if s := p.slots[selfID]; !(s > 0 && s <= 4) {
			t.Errorf("of %g it makes a capacity of %g", odd, s)
		}
	}
}

// The zero value of balance.Config is the theses' reading: LPAS_dec has the cores in full.
func TestAvailabilityCanBeLeftOut(t *testing.T) {
	r, p := withRecorder(t, func(c *Config) { c.Balance = balance.Config{} })
	r.join(fastID, 1, "linux")
	r.measured(0.5, 1)
	r.available(fastID, 1, 0.25)
	r.submit(jobID(1), spec(nil))
	if p.slots[selfID] != 1 || p.slots[fastID] != 1 {
		t.Errorf("capacities %v, want 1 of both", p.slots)
	}
	if mean, _ := r.n.peers.RunTime("other"); mean != 1 {
		t.Errorf("a task is expected to take %g s, want 1", mean)
	}
}

// A run that took twice as long because others used half of the cores teaches the rate of an undisturbed run; the next
// run is expected to take as long as this one did.
func TestForeignCPULoadIsNotLearned(t *testing.T) {
	r := newRig(t, nil)
	r.measured(0.5, 1)
	r.submit(jobID(1), spec(nil))
	r.now = r.now.Add(8 * time.Second)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: grid.AttemptID{Task: grid.TaskID{Job: jobID(1)},
		Attempt: grid.Attempt{Epoch: 1, N: 1}},
		Result: &grid.Result{Cause: grid.Exited, Wall: 8 * time.Second}})
	r.now = r.now.Add(2 * time.Second)
	r.n.rates.Publish(r.now)
	own, _ := r.n.rates.Published()
	if mu := own[0].Mu; mu != 0.25 {
		t.Errorf("it tells a rate of %g, want 0.25: what a core of it does", mu)
	}
	if mean, _ := r.n.peers.RunTime(own[0].Class); mean != 8 {
		t.Errorf("the next is expected to take %g s here, want 8", mean)
	}
	r.measured(1, 1)
	if mean, _ := r.n.peers.RunTime(own[0].Class); mean != 4 {
		t.Errorf("when the others have gone %g s are expected, want 4", mean)
	}
}

// A dead node leaves the allocation in the same event, and its tasks are placed before younger ones, with their age.
func TestDeadNodesTasksArePlacedFirst(t *testing.T) {
	r, p := withRecorder(t, func(c *Config) { c.Window = 1 })
	r.submit(jobID(90), spec(nil)) // it is busy itself
	r.join(fastID, 0.1, "linux")
	old := r.now
	r.submit(jobID(1), spec(nil))
	if got := r.promises(fastID, time.Millisecond); len(got) != 1 {
		t.Fatalf("%d offers, want 1", len(got))
	}
	r.now = r.now.Add(time.Second)
	r.join(slowID, 0.1, "linux")
	r.submit(jobID(2), spec(func(s *grid.JobSpec) { s.Count = 5 }))
	var first grid.AttemptID
	for _, m := range r.fx.Sends {
		if m.Msg.Kind == grid.KindPoll && m.To == slowID { // the other does not answer any more
			poll := m.Msg.Poll.ID
			r.deliver(slowID, grid.KindState, func(m *grid.Message) {
				m.State = grid.State{ID: poll, Speed: 1, Cores: grid.CPU, Mine: 1}
			})
			break
		}
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	if !slices.Contains(p.gone, fastID) {
		t.Fatal("the policy was not told in that step that the node is gone")
	}
	for _, m := range r.sent(grid.KindOffer) {
		first = m.Msg.Offer.ID
	}
	if first.Task.Job != jobID(2) {
		t.Fatalf("offered first: %v, want a task of the second job", first)
	}
	r.now = r.now.Add(r.cfg.Lease / 2)
	r.step(grid.Event{Kind: grid.EvWake, Timer: r.leases()[0]})
	r.deliverFor(slowID, grid.KindAccept, first, nil)
	var next []grid.Send
	for _, m := range r.fx.Sends {
		if m.Msg.Kind == grid.KindPoll {
			poll := m.Msg.Poll.ID
			r.deliver(slowID, grid.KindState, func(m *grid.Message) {
				m.State = grid.State{ID: poll, Speed: 1, Cores: grid.CPU, Mine: 1}
			})
			break
		}
	}
	next = r.sent(grid.KindOffer)
	if len(next) != 1 || next[0].Msg.Offer.ID.Task.Job != jobID(1) {
		t.Fatalf("offered next: %v, want what the dead node had", next)
	}
	if o := next[0].Msg.Offer; o.Age < r.now.Sub(old) || o.ID.N != 2 {
		t.Errorf("it is offered as attempt %d of age %v: want the second, of %v", o.ID.N, o.Age, r.now.Sub(old))
	}
}

// Where tasks share the cores, what waits for the least speed starts when other users leave more of them.
func TestOtherUsersLeaveMore(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Order.LeastSpeed = 0.5 })
	r.measured(0.5, 1)
	for n := byte(1); n <= 2; n++ {
		r.submit(jobID(n), spec(nil))
	}
	if n := len(r.n.worker.Exec().Running()); n != 1 {
		t.Fatalf("%d run on half a core, want 1", n)
	}
	if r.measured(1, 1); len(r.fx.Starts) != 1 {
		t.Errorf("starts %v, want the other one", r.fx.Starts)
	}
}

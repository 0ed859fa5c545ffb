package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// An attempt that its worker hands back has not started: that is no loss, and a task without retries is placed again.
func TestHandedBackAttemptIsNoLoss(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(func(s *grid.JobSpec) { s.Retries = 0 }), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyDrain}
	})
	if v := r.task(jobID(1)); v.Lost != 0 || v.State == grid.Ended || len(r.fx.Starts) != 1 {
		t.Fatalf("task %+v", v)
	}
	if m := r.one(grid.KindDrop); m.To != fastID || m.Msg.Attempts[0] != id {
		t.Errorf("%+v is sent, want an acknowledgement", m)
	}
	r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) { // the acknowledgement was lost
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyDrain}
	})
	r.one(grid.KindDrop)
}

// queued makes a worker of one core that has, of the job of fastID, one attempt that runs and one that waits, by an
// offer with the given terms. slowID is idle.
func queued(t *testing.T, terms grid.Offer, change func(*grid.JobSpec)) (r *rig, waits grid.AttemptID) {
	t.Helper()
	r = newRig(t, func(c *Config) { c.Pull = true })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	waits = foreignAttempt(2)
	waits.Task.Index = 1
	for _, id := range []grid.AttemptID{{Task: grid.TaskID{Job: waits.Task.Job}, Attempt: waits.Attempt}, waits} {
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = terms
			m.Offer.ID, m.Offer.Class, m.Offer.Lease = id, "a", r.cfg.Lease
			m.Offer.Spec = spec(func(s *grid.JobSpec) {
				if s.Count = 2; change != nil {
					change(s)
				}
			})
		})
	}
	return r, waits
}

// pulls has slowID ask for work, when everything is overdue.
func (r *rig) pulls() {
	r.t.Helper()
	r.now = r.now.Add(time.Hour)
	r.pullsNow()
}

func (r *rig) pullsNow() {
	r.t.Helper()
	r.deliver(slowID, grid.KindPull, func(m *grid.Message) { m.Poll.Needs = oneCore })
}

// handedBack returns the attempts that were handed back to fastID for slowID in the last step.
func (r *rig) handedBack() (ids []grid.AttemptID) {
	for _, s := range r.sent(grid.KindRefuse) {
		if s.To == fastID && s.Msg.Refusal.Why == grid.WhyPulled && s.Msg.Puller == slowID {
			ids = append(ids, s.Msg.Attempts...)
		}
	}
	return ids
}

// back restarts a node and connects the others again.
func (r *rig) back() *rig {
	r.t.Helper()
	s := r.restart()
	s.join(slowID, 1, "linux")
	s.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds,
		Features: grid.AllFeatures})
	return s
}

// startLease lets an attempt start.
func (r *rig) startLease(id grid.AttemptID) {
	r.t.Helper()
	r.deliver(fastID, grid.KindStartLeaseAck, func(m *grid.Message) {
		m.Attempts, m.Register.Seq = []grid.AttemptID{id}, r.n.worker.Stamp(r.now)
	})
}

// A worker that was restarted knows still which attempts it has handed back, and to whom they go, until their owner
// has acknowledged it. It said that they were lost: a task without retries ended.
func TestHandBackOutlivesARestart(t *testing.T) {
	once := func(s *grid.JobSpec) { s.Retries = 0 }
	for name, giveBack := range map[string]func(*rig){
		"pulled":  (*rig).pulls,
		"drained": func(r *rig) { r.drain(time.Minute) },
		"stopped": func(r *rig) { r.step(grid.Event{Kind: grid.EvLeave}) },
	} {
		r, id := queued(t, grid.Offer{Asks: true}, once)
		giveBack(r)
		first := r.one(grid.KindRefuse).Msg
		again := r.back()
		same := func(when string) {
			t.Helper()
			if m := again.one(grid.KindRefuse); m.To != fastID || m.Msg.Attempts[0] != id ||
				m.Msg.Refusal != first.Refusal || m.Msg.Puller != first.Puller {
				t.Errorf("%s, %s: %v, puller %v; want it to be handed back as before", name, when, m.Msg.Refusal,
					m.Msg.Puller.Short())
			}
		}
		same("when its owner connects")
		again.deliverFor(fastID, grid.KindAsk, id, nil)
		same("when it is asked")
		again.pass(time.Minute, grid.TimerResult)
		same("when nothing is answered")
		if again.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: id, Spec: spec(func(s *grid.JobSpec) { s.Count = 2 }), Class: "a", Lease: r.cfg.Lease}
		}); len(again.fx.Starts) > 0 || again.one(grid.KindRefuse).Msg.Refusal.Why == grid.WhyNone {
			t.Errorf("%s: a late offer of it is accepted", name)
		}
		again.deliverFor(fastID, grid.KindDrop, id, nil)
		again.deliverFor(fastID, grid.KindResultAck, grid.AttemptID{Task: grid.TaskID{Job: id.Task.Job}, Attempt: id.Attempt},
			nil)
		if n := again.records(grid.RecWork); n != 0 {
			t.Errorf("%s: %d records are left of what was acknowledged", name, n)
		}
	}
}

// An owner of an older version acknowledges nothing. It is told for a minute, and for as long again when it connects.
func TestUnacknowledgedHandBackIsForgotten(t *testing.T) {
	r, id := queued(t, grid.Offer{}, nil)
	r.pulls()
	told := 0
	for end := r.now.Add(time.Hour); r.now < end; r.pass(end.Sub(r.now)) {
		told += len(r.handedBack())
	}
	if _, _, here := r.n.Work(id); here || told != 5 {
		t.Errorf("told %d times, still here: %v", told, here)
	}
	if r.deliverFor(fastID, grid.KindAsk, id, nil); r.one(grid.KindRefuse).Msg.Refusal.Why != grid.WhyStale {
		t.Error("it says that it was lost")
	}
}

// The members of a register are told while its owner is disconnected: one of them owns the job since. The owner is
// dialled, so that it is told if it lives.
func TestMembersAreToldOfAHandBack(t *testing.T) {
	r, id := queued(t, grid.Offer{Members: []grid.NodeID{fastID, thirdID, slowID}}, nil)
	r.pulls()
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	r.pass(time.Minute, grid.TimerResult)
	if m := r.one(grid.KindRefuse); m.To != slowID || m.Msg.Attempts[0] != id || len(r.sent(grid.KindBeat)) > 0 {
		t.Errorf("%v to %v: want one that it is handed back", kindsOf(r.fx.Sends), m.To.Short())
	}
	if !slices.ContainsFunc(r.fx.Links, func(l grid.Link) bool { return l.Peer == fastID }) {
		t.Errorf("links %+v: want a dial of the owner", r.fx.Links)
	}
	r.deliver(slowID, grid.KindTakeover, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: id.Task.Job, Epoch: 2, Owner: slowID}
	})
	for _, s := range r.sent(grid.KindBeat) {
		for _, a := range s.Msg.Attempts {
			if a == id {
				t.Errorf("a beat reports it to %v as if it waited", s.To.Short())
			}
		}
	}
}

// What other nodes than its origin say of a job's members is believed for want of better. The origin learns of an
// attempt that rests on it, and was the job's last one here, that it never started. It was told that it was lost.
func TestHandBackOfHearsayIsNoLoss(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Pull = true })
	for _, id := range []grid.NodeID{fastID, slowID, thirdID} {
		r.join(id, 1, "linux")
	}
	r.offer(fastID, foreignAttempt(9), spec(nil)) // it runs
	id := grid.AttemptID{Task: grid.TaskID{Job: replicatedJob}, Attempt: grid.Attempt{Epoch: 2, N: 1}}
	members := []grid.NodeID{fastID, slowID, thirdID}
	r.deliver(thirdID, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: id, Spec: spec(nil), Class: "a", Lease: r.cfg.Lease, Members: members}
	})
	for _, from := range []grid.NodeID{fastID, slowID} { // the origin is the owner again
		r.deliver(from, grid.KindTakeover, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 3, Owner: fastID}
		})
	}
	if r.pulls(); len(r.handedBack()) != 1 {
		t.Fatalf("sent %v, want that it is handed back to the origin", kindsOf(r.fx.Sends))
	}
	r.deliverFor(fastID, grid.KindAsk, id, nil)
	if why := r.one(grid.KindRefuse).Msg.Refusal.Why; why != grid.WhyPulled {
		t.Errorf("the origin is told that it %v", why)
	}
}

// A node that the offer of an attempt bars does not get it, and is not told that work waits.
func TestBarredNodeGetsNothing(t *testing.T) {
	r, _ := queued(t, grid.Offer{Barred: []grid.NodeID{thirdID, slowID}}, nil)
	told := false
	for end := r.now.Add(time.Minute); r.now < end; r.pass(end.Sub(r.now), grid.TimerPull) {
		for _, s := range r.sent(grid.KindWaiting) {
			told = told || s.To == slowID
		}
	}
	if r.pulls(); told || len(r.sent(grid.KindNoWork)) != 1 || len(r.sent(grid.KindRefuse)) > 0 {
		t.Errorf("told %v, sent %v: want that there is no work", told, kindsOf(r.fx.Sends))
	}
	id := foreignAttempt(9)
	for index, barred := range [][]grid.NodeID{{slowID}, {thirdID}, {thirdID, slowID}} {
		id.Task.Index = uint32(index)
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: id, Class: "a", Lease: r.cfg.Lease, Barred: barred,
				Spec: spec(func(s *grid.JobSpec) { s.Count = 3 })}
		})
	}
	if r.pulls(); len(r.handedBack()) != 1 || r.handedBack()[0].Task.Index != 1 {
		t.Errorf("%v handed back, want the only attempt that does not bar it", r.handedBack())
	}
}

// What an offer says of giving an attempt away holds over a restart.
func TestTermsOutliveARestart(t *testing.T) {
	once := func(s *grid.JobSpec) { s.Retries = 0 }
	for _, x := range []struct {
		terms  grid.Offer
		change func(*grid.JobSpec)
		want   int
	}{{grid.Offer{Stays: true}, nil, 0}, {grid.Offer{}, nil, 1}, {grid.Offer{Asks: true}, once, 1},
		{grid.Offer{}, once, 0}} {
		r, _ := queued(t, x.terms, x.change)
		r = r.back()
		r.offer(fastID, foreignAttempt(9), spec(nil)) // it runs
		if r.pulls(); len(r.handedBack()) != x.want {
			t.Errorf("%+v, retries %v: %d are given away, want %d", x.terms, x.change == nil, len(r.handedBack()), x.want)
		}
	}
}

// How long restored work has waited is not known: it is overdue when it has waited again for half as long again as is
// predicted then. It was overdue at once, and a much slower node got it.
func TestRestoredWorkIsNotOverdue(t *testing.T) {
	r, _ := queued(t, grid.Offer{}, nil)
	const takes = 10 * time.Second
	for len(r.n.worker.Exec().Running()) > 0 {
		r.now = r.now.Add(takes)
		running := r.n.worker.Exec().Running()[0].ID
		if running.Task.Job.Nonce[0] < 8 {
			r.offer(fastID, foreignAttempt(running.Task.Job.Nonce[0]+1), spec(nil))
		}
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: running, Result: &grid.Result{Cause: grid.Exited, Wall: takes}})
		r.deliverFor(fastID, grid.KindResultAck, running, nil)
	}
	for n := range byte(4) { // one runs
		r.offer(fastID, foreignAttempt(20+n), spec(nil))
	}
	r = r.restart()
	r.join(slowID, 0.01, "linux")
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds,
		Features: grid.AllFeatures})
	r.startLease(foreignAttempt(21))
	if len(r.fx.Starts) != 1 {
		t.Fatalf("starts %v", r.fx.Starts)
	}
	for _, x := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {takes, 0}, {6 * takes, 1}} {
		r.now = r.now.Add(x.after)
		if r.pullsNow(); len(r.handedBack()) != x.want {
			t.Errorf("after %v more: %d are given to a node that is a hundred times slower, want %d", x.after,
				len(r.handedBack()), x.want)
		}
	}
}

package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

func (r *rig) drain(within time.Duration) {
	r.t.Helper()
	r.step(grid.Event{Kind: grid.EvDrain, Caller: 5, Within: within})
	if len(r.fx.Replies) != 1 || r.fx.Replies[0].Err != "" {
		r.t.Fatalf("replies %+v", r.fx.Replies)
	}
}

func TestDrainHandsBackQueueAndLetsRunningEnd(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.offer(fastID, foreignAttempt(2), spec(nil))
	r.drain(time.Minute)
	if m := r.one(grid.KindRefuse); m.To != fastID || m.Msg.Attempts[0] != foreignAttempt(2) ||
		m.Msg.Refusal.Why != grid.WhyDrain {
		t.Fatalf("refusal %+v", m)
	}
	if len(r.fx.Announces) != 1 || !r.fx.Announces[0].Digest[0].Ad.Draining {
		t.Fatalf("announces %+v: want its ad, draining", r.fx.Announces)
	}
	r.deliverFor(fastID, grid.KindDrop, foreignAttempt(2), nil)
	if r.offer(fastID, foreignAttempt(3), spec(nil)); r.one(grid.KindRefuse).Msg.Refusal.Why != grid.WhyDrain {
		t.Error("it takes new work")
	}
	if v := r.n.Drain(r.now); v.Running != 1 || v.Queued != 0 || v.Over() {
		t.Errorf("%+v", v)
	}
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(1), Result: exitZero})
	r.one(grid.KindResult)
	if v := r.n.Drain(r.now); v.Unsaved != 1 || v.Over() {
		t.Errorf("%+v", v)
	}
	r.deliverFor(fastID, grid.KindResultAck, foreignAttempt(1), nil)
	if v := r.n.Drain(r.now); !v.Over() {
		t.Errorf("%+v", v)
	}
}

func TestDrainStopsRunningAtDeadline(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.drain(time.Minute)
	r.pass(time.Minute-time.Second, grid.TimerDrain)
	if len(r.n.worker.Exec().Running()) != 1 {
		t.Fatal("it was stopped before its time")
	}
	r.pass(2*time.Second, grid.TimerDrain)
	if m := r.one(grid.KindResult); m.Msg.Result.Cause != grid.Lost || len(r.fx.Stops) != 1 {
		t.Errorf("result %+v, stops %v: want it lost and stopped", m.Msg.Result, r.fx.Stops)
	}
}

// An attempt whose start came too late, and is back in the queue of a draining node, would wait there for good.
func TestDrainingNodeHandsBackLateStart(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.drain(time.Minute)
	r.step(grid.Event{Kind: grid.EvLate, Attempt: foreignAttempt(1)})
	if m := r.one(grid.KindRefuse); m.To != fastID || m.Msg.Attempts[0] != foreignAttempt(1) ||
		m.Msg.Refusal.Why != grid.WhyDrain {
		t.Errorf("refusal %+v", m)
	}
	if v := r.n.Drain(r.now); v.Over() || len(r.fx.Starts) != 0 {
		t.Errorf("%+v, starts %v: its owner may not know yet", v, r.fx.Starts)
	}
	r.deliverFor(fastID, grid.KindDrop, foreignAttempt(1), nil)
	if v := r.n.Drain(r.now); !v.Over() {
		t.Errorf("%+v", v)
	}

	r = newRig(t, nil)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Retries = 0 }))
	r.drain(time.Minute)
	r.step(grid.Event{Kind: grid.EvLate, Attempt: r.task(jobID(1)).ID})
	if r.want(jobID(1), grid.Pending); r.task(jobID(1)).Waits.Why != grid.WhyDrain {
		t.Errorf("its own waits because it %v", r.task(jobID(1)).Waits.Why)
	}
}

func TestLostRefusalIsRepeated(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.offer(fastID, foreignAttempt(2), spec(nil))
	r.drain(time.Minute)
	r.deliverFor(fastID, grid.KindAsk, foreignAttempt(2), nil)
	if m := r.one(grid.KindRefuse); m.Msg.Refusal.Why != grid.WhyDrain {
		t.Errorf("%v: the task never ran, and would count as lost", m.Msg.Refusal)
	}
}

func TestDrainHandsBackWhenOwnerConnects(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.offer(fastID, foreignAttempt(2), spec(nil))
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	r.drain(time.Minute)
	if v := r.n.Drain(r.now); v.Queued != 1 || len(r.sent(grid.KindRefuse)) != 0 {
		t.Fatalf("%+v, sent %v", v, kindsOf(r.fx.Sends))
	}
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	r.one(grid.KindRefuse)
}

func TestDrainingNodePlacesOwnTasksElsewhere(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) { s.Retries = 0 }))
	r.submit(jobID(2), spec(func(s *grid.JobSpec) { s.Retries = 0 }))
	r.want(jobID(2), grid.Placed)
	r.drain(time.Minute)
	r.want(jobID(1), grid.Placed) // keeps running
	r.want(jobID(2), grid.Pending)
	if why := r.task(jobID(2)).Waits.Why; why != grid.WhyDrain {
		t.Errorf("it waits because it %v", why)
	}
	r.submit(jobID(3), spec(nil))
	if len(r.fx.Replies) != 1 || !strings.Contains(r.fx.Replies[0].Err, "draining") {
		t.Errorf("replies %+v: want a submission to be refused", r.fx.Replies)
	}
	if v := r.n.Drain(r.now); v.Own != 2 {
		t.Errorf("%+v", v)
	}
	r.join(fastID, 1, "linux")
	r.pass(time.Minute-time.Second, grid.TimerRetry)
	if o := r.one(grid.KindOffer); o.To != fastID || o.Msg.Offer.ID.N != 2 {
		t.Errorf("offer %+v", o)
	}
}

func TestDrainingNodeGetsNoOffers(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 100, "linux")
	r.offered(jobID(1), spec(nil), fastID)
	ad := *r.n.gossip.Peer(fastID).Ad
	ad.Seq.N, ad.Draining = 2, true
	r.step(grid.Event{Kind: grid.EvAnnounce, Peer: fastID,
		Msg: &grid.Message{Kind: grid.KindBye, Digest: []grid.AdEntry{{Ad: &ad}}}})
	r.submit(jobID(2), spec(nil))
	r.want(jobID(2), grid.Placed)
	r.submit(jobID(3), spec(nil))
	r.want(jobID(3), grid.Placed)
	if len(r.sent(grid.KindPoll))+len(r.sent(grid.KindOffer)) != 0 {
		t.Errorf("sent %v", kindsOf(r.fx.Sends))
	}
}

func TestLowDiskIsPublished(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.step(grid.Event{Kind: grid.EvDisk, Low: true})
	for _, p := range r.n.Peers(r.now, nil) {
		if want := map[bool]grid.Why{true: grid.WhyDisk}[p.Self]; p.Refuses != want {
			t.Errorf("%s refuses because it %v, want %v", p.Ad.Name, p.Refuses, want)
		}
	}
	if r.offer(fastID, foreignAttempt(1), spec(nil)); r.one(grid.KindRefuse).Msg.Refusal.Why != grid.WhyDisk {
		t.Error("it takes work")
	}
	if r.pass(2*time.Second, grid.TimerAd); !r.n.gossip.Ad().Full {
		t.Error("its ad does not say so")
	}
	r.step(grid.Event{Kind: grid.EvDisk})
	if r.pass(2*time.Second, grid.TimerAd); r.n.gossip.Ad().Full {
		t.Error("its ad says so for ever")
	}
}

// A node that reports low disk space is not polled, and the task waits with that reason.
func TestLowDiskNodeGetsNoOffers(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "windows")
	r.deliver(fastID, grid.KindDigest, func(m *grid.Message) {
		ad := *r.n.gossip.Peer(fastID).Ad
		ad.Seq.N, ad.Full = 2, true
		m.Digest = []grid.AdEntry{{Ad: &ad}}
	})
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Needs.Labels, s.Wait = []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}, true
	}))
	if len(r.sent(grid.KindPoll))+len(r.sent(grid.KindOffer)) > 0 || r.task(jobID(1)).Waits.Why != grid.WhyDisk {
		t.Errorf("sent %v, waits for %+v", kindsOf(r.fx.Sends), r.task(jobID(1)).Waits)
	}
}

func TestUndrain(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(nil))
	r.submit(jobID(2), spec(nil))
	r.drain(time.Minute)
	r.step(grid.Event{Kind: grid.EvUndrain, Caller: 6})
	if len(r.fx.Announces) != 1 || r.fx.Announces[0].Digest[0].Ad.Draining {
		t.Errorf("announces %+v: want its ad, no longer draining", r.fx.Announces)
	}
	r.want(jobID(2), grid.Placed)
	r.pass(2*time.Minute, grid.TimerDrain)
	if len(r.n.worker.Exec().Running()) != 1 {
		t.Error("what runs was stopped by a drain that was taken back")
	}
	r.drain(time.Hour)
	if s := r.restart(); s.n.Drain(s.now).On {
		t.Error("a node that was started again does not take work")
	}
}

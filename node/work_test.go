package node

import (
	"math"
	"testing"
	"time"

	"skep/grid"
	"skep/node/rates"
)

func foreignAttempt(i byte) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{i}}},
		Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

func (r *rig) offer(from grid.NodeID, id grid.AttemptID, s *grid.JobSpec) {
	r.t.Helper()
	r.deliver(from, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: id, Spec: s, Class: grid.ClassOf(s), Lease: 6 * time.Second}
	})
}

func TestRepeatedOfferStartsOnce(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	if r.one(grid.KindAccept); len(r.fx.Starts) != 1 {
		t.Fatalf("starts %v", r.fx.Starts)
	}
	r.offer(fastID, foreignAttempt(1), spec(nil))
	if r.one(grid.KindAccept); len(r.fx.Starts) != 0 {
		t.Fatalf("a repeated offer was started again")
	}
}

func TestResultIsKeptUntilItIsAcknowledged(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(1), Result: exitZero})
	r.one(grid.KindResult)
	r.pass(2*time.Second, grid.TimerResult)
	r.one(grid.KindResult)
	r = r.restart()
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	r.one(grid.KindResult)
	r.deliverFor(fastID, grid.KindResultAck, foreignAttempt(1), nil)
	if len(r.fx.Stops) != 1 || len(r.n.worker.Exec().Finished()) != 0 {
		t.Error("the acknowledged result is still here")
	}
	for k, rec := range r.disk {
		if rec.Kind == grid.RecWork {
			t.Errorf("%s is still on disk", k)
		}
	}
}

// A stopped attempt keeps its core until its process has ended; how it ended does not matter.
func TestStoppedWorkKeepsItsCore(t *testing.T) {
	for _, last := range []*grid.Result{nil, exitZero} {
		r := newRig(t, nil)
		r.join(fastID, 1, "linux")
		r.offer(fastID, foreignAttempt(1), spec(nil))
		r.offer(fastID, foreignAttempt(2), spec(nil))
		free := r.n.worker.Exec().Free()
		if r.deliverFor(fastID, grid.KindDrop, foreignAttempt(1), nil); len(r.fx.Stops) != 1 || len(r.fx.Starts) != 0 ||
			r.n.worker.Exec().Free() != free {
			t.Fatalf("stops %v, starts %v, free %v: want one stop and nothing freed", r.fx.Stops, r.fx.Starts,
				r.n.worker.Exec().Free())
		}
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(1), Result: last})
		if len(r.fx.Starts) != 1 || r.fx.Starts[0].Attempt != foreignAttempt(2) {
			t.Errorf("starts %v: want the one that waited", r.fx.Starts)
		}
		if results := r.sent(grid.KindResult); len(results) > 0 {
			t.Errorf("the result of a dropped attempt is sent: %+v", results)
		}
	}
}

func TestForgedMessagesAreIgnored(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.offer(slowID, foreignAttempt(1), spec(nil))
	if len(r.fx.Starts)+len(r.fx.Sends) != 0 {
		t.Fatal("an offer of another node's job was answered")
	}
	r.offer(fastID, foreignAttempt(1), spec(nil))
	for _, k := range []grid.Kind{grid.KindDrop, grid.KindResultAck} {
		if r.deliverFor(slowID, k, foreignAttempt(1), nil); len(r.fx.Stops) != 0 {
			t.Fatalf("%v by a stranger stopped the attempt", k)
		}
	}
	id := r.offered(jobID(1), spec(nil), slowID)
	r.deliverFor(fastID, grid.KindResult, id, exitZero)
	r.want(jobID(1), grid.Offered)
}

func TestBeatsGoToEachOriginAndStopWithTheWork(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.offer(fastID, foreignAttempt(2), spec(nil))
	r.pass(2*time.Second, grid.TimerBeat)
	for _, k := range []grid.Kind{grid.KindBeat, grid.KindStartLease} { // of what runs, and of what waits
		if b := r.one(k); b.To != fastID || len(b.Msg.Attempts) != 1 {
			t.Fatalf("%v %+v", k, b)
		}
	}
	r.deliver(fastID, grid.KindDrop, func(m *grid.Message) {
		m.Attempts = []grid.AttemptID{foreignAttempt(1), foreignAttempt(2)}
	})
	if len(r.fx.Stops) != 2 {
		t.Fatalf("stops %v", r.fx.Stops)
	}
	before := r.n.Stats(r.now).Sent[grid.KindBeat]
	r.pass(time.Minute, grid.TimerBeat)
	for _, w := range r.wakes {
		if w.Timer.Kind == grid.TimerBeat {
			t.Error("a node with nothing of others still has a beat ahead")
		}
	}
	if r.n.Stats(r.now).Sent[grid.KindBeat] != before {
		t.Error("a node with nothing of others still beats")
	}
}

func TestOnlySuccessTeachesTheRate(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	class := grid.ClassOf(spec(nil))
	for i, res := range []*grid.Result{
		{Cause: grid.NotFound, Exit: 127}, {Cause: grid.Exited, Exit: 1, Wall: time.Millisecond},
		{Cause: grid.Signaled, Exit: 137, Wall: time.Millisecond}, {Cause: grid.TimedOut, Exit: 124, Wall: time.Second},
	} {
		r.offer(fastID, foreignAttempt(byte(i)), spec(nil))
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(byte(i)), Result: res})
		if got, _ := r.n.peers.RunTime(class); got != rates.Prior {
			t.Fatalf("%v taught a rate", res.Cause)
		}
	}
	r.offer(fastID, foreignAttempt(9), spec(nil))
	r.now = r.now.Add(4 * time.Second)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: foreignAttempt(9), Result: &grid.Result{Cause: grid.Exited,
		Wall: 4 * time.Second}})
	if got, _ := r.n.peers.RunTime(class); math.Abs(got-4) > 1e-6 {
		t.Errorf("mean run time %g, want 4", got)
	}
}

func TestPollCarriesRatesBothWaysOnce(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	poll := func(have uint64) grid.State {
		r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 4, Class: "x", Needs: oneCore, Speed: 2, Cores: grid.CPU, Mine: 3, Have: have,
				Rates: []grid.Rate{{Class: "x", Alpha: 1, Mu: 8}}}
		})
		return r.one(grid.KindState).Msg.State
	}
	s := poll(0)
	if s.ID != 4 || s.Have != 3 || s.Mine == 0 {
		t.Fatalf("answer %+v", s)
	}
	if s = poll(s.Mine); len(s.Rates) != 0 {
		t.Errorf("rates were sent again: %v", s.Rates)
	}
	if mean, _ := r.n.peers.RunTime("x"); mean != 1.0/4 {
		t.Errorf("a task of x is taken to need %g s here, want 2/8", mean)
	}
}

func TestRepeatedAndForgedResultsAreOffences(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(slowID, grid.KindResult, id, exitZero)
	if len(r.fx.Offences) != 1 || r.fx.Offences[0] != slowID || r.task(jobID(1)).State == grid.Ended {
		t.Fatalf("a result by who was not asked: offences %v, task %v", r.fx.Offences, r.task(jobID(1)).State)
	}
	r.deliverFor(fastID, grid.KindResult, id, exitZero)
	for range maxRepeats {
		if r.deliverFor(fastID, grid.KindResult, id, exitZero); len(r.fx.Offences) != 0 {
			t.Fatal("a repetition that lost answers explain is an offence")
		}
	}
	if r.deliverFor(fastID, grid.KindResult, id, exitZero); len(r.fx.Offences) != 1 {
		t.Error("a result repeated without end is no offence")
	}
}

// An offer that was refused and comes again when there would be room is refused: it was placed elsewhere meanwhile, and
// must not start here too.
func TestRepeatedRefusedOfferIsRefused(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	r.step(grid.Event{Kind: grid.EvDisk, Low: true})
	r.offer(fastID, foreignAttempt(1), spec(nil))
	r.one(grid.KindRefuse)
	r.step(grid.Event{Kind: grid.EvDisk})
	r.offer(fastID, foreignAttempt(1), spec(nil))
	if r.one(grid.KindRefuse); len(r.fx.Starts) != 0 {
		t.Error("it was started")
	}
	r.deliverFor(fastID, grid.KindAsk, foreignAttempt(1), nil)
	if m := r.one(grid.KindRefuse); m.Msg.Refusal.Why == grid.WhyLost {
		t.Error("it never ran, and would count as lost")
	}
}

// Work returns the state and result of an attempt accepted here.
func (n *Node) Work(id grid.AttemptID) (grid.WorkState, *grid.Result, bool) {
	if w := n.worker.Exec().Get(id); w != nil {
		return w.State, w.Result, true
	}
	return 0, nil, false
}

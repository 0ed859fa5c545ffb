package node

import (
	"fmt"
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

// A policy that learns of nodes only in Poll must be called although there is a single node: local would not know which
// of them it is.
func TestLonelyNodeRunsUnderEveryPolicy(t *testing.T) {
	for _, name := range balance.Names() {
		r := newRig(t, func(c *Config) { c.Policy = name })
		r.submit(jobID(1), spec(nil))
		if name == "pda" { // it matches once in a second
			r.pass(time.Second, grid.TimerRetry)
		}
		if len(r.fx.Starts) != 1 {
			t.Errorf("%s: %v", name, r.task(jobID(1)).Traces)
		}
	}
}

// A result whose files take long to come is not lost meanwhile.
func TestAResultIsNotLostWhileItsFilesCome(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	res := *exitZero
	res.Outputs = []grid.File{{Path: "out", Blob: grid.BlobID{1}, Size: 1 << 40}}
	r.deliverFor(fastID, grid.KindResult, id, &res)
	if len(r.fx.Fetches) != 1 {
		t.Fatal("its files are not fetched")
	}
	r.pass(time.Minute, grid.TimerLease) // the worker no longer lists a result that it has repeated often
	if v := r.task(jobID(1)); v.Lost != 0 {
		t.Fatalf("lost %d times while its files are on their way", v.Lost)
	}
	r.step(grid.Event{Kind: grid.EvFetched, Attempt: id})
	r.want(jobID(1), grid.Ended)
}

// A worker hands an attempt back while the files of its result are fetched: the task goes to another node, and the
// result of that counts. It was ignored as a repeated one, and the task never ended.
func TestAResultAfterOneThatWasHandedBack(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	res := *exitZero
	res.Outputs = []grid.File{{Path: "out", Blob: grid.BlobID{1}, Size: grid.MiB}}
	r.deliverFor(fastID, grid.KindResult, id, &res)
	if len(r.fx.Fetches) != 1 {
		t.Fatal("its files are not fetched")
	}
	r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyDrain}
	})
	if len(r.fx.Starts) != 1 {
		t.Fatalf("%d starts here: %v", len(r.fx.Starts), r.task(jobID(1)).Traces)
	}
	next := r.fx.Starts[0].Attempt
	r.step(grid.Event{Kind: grid.EvFetched, Attempt: id})
	r.want(jobID(1), grid.Placed)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: next, Result: exitZero})
	r.want(jobID(1), grid.Ended)
}

// A task has one lease timer, however often its worker came and went.
func TestLeaseTimersDoNotMultiply(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	id := r.offered(jobID(1), spec(nil), fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	for range 50 {
		r.now += 1e9
		r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
		r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
		r.deliverFor(fastID, grid.KindBeat, id, nil)
	}
	for range 30 { // shortened leases expire
		r.pass(time.Second)
		r.deliverFor(fastID, grid.KindBeat, id, nil)
	}
	timers := 0
	for _, w := range r.wakes {
		if w.Timer.Kind == grid.TimerLease {
			timers++
		}
	}
	if timers > 2 {
		t.Errorf("%d lease timers for one task", timers)
	}
}

// An attempt is lost once, however often that is reported.
func TestAnAttemptIsLostOnce(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "windows")
	r.join(slowID, 1, "windows")
	r.join(grid.NodeID{4}, 1, "windows")
	s := spec(func(s *grid.JobSpec) {
		s.Retries, s.Needs.Labels = 1, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	})
	id := r.offered(jobID(1), s, fastID)
	r.deliverFor(fastID, grid.KindAccept, id, nil)
	r.pass(r.cfg.Lease*7/8, grid.TimerLease) // its worker is asked before it is given up
	r.pass(10*time.Second, grid.TimerLease)  // silent: lost, and nodes are polled for the next attempt
	if v := r.task(jobID(1)); v.Lost != 1 {
		t.Fatalf("%+v", v)
	}
	r.deliverFor(fastID, grid.KindResult, id, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep,
		Error: "the node was restarted"})
	if v := r.task(jobID(1)); v.Lost != 1 || v.State == grid.Ended {
		t.Errorf("%v, lost %d times after one attempt, want once and another", v.State, v.Lost)
	}
}

// A repeated answer counts once: the choice waits for the others.
func TestARefusalThatComesTwiceIsOneAnswer(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(nil))
	polls := r.sent(grid.KindPoll)
	if len(polls) != 2 {
		t.Fatalf("%d polls, want 2", len(polls))
	}
	no := func(m *grid.Message) {
		m.State = grid.State{ID: polls[0].Msg.Poll.ID, Why: grid.WhyQueue, Speed: 1, Cores: grid.CPU, Mine: 1}
	}
	from := polls[0].To
	r.deliver(from, grid.KindState, no)
	r.deliver(from, grid.KindState, no)
	if v := r.task(jobID(1)); v.State != grid.Pending {
		t.Errorf("%v: chosen before the other node has answered", v.State)
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: from})
	if v := r.task(jobID(1)); v.State != grid.Pending {
		t.Errorf("%v: chosen when the node that had answered went, before the other has", v.State)
	}
}

// A node that a search finds and that cannot be reached is not searched for without end.
func TestFoundButUnreachableEnds(t *testing.T) {
	r := newRig(t, nil)
	r.join(slowID, 1, "linux")
	s := spec(func(s *grid.JobSpec) { s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"plan9"}}} })
	ad := &grid.Ad{Node: fastID, Seq: grid.Seq{Boot: 1, N: 1}, Name: "far", Speed: 1, Availability: 1,
		Capacity: grid.Resources{CPU: grid.CPU, Memory: grid.GiB}, Free: grid.Resources{CPU: grid.CPU, Memory: grid.GiB},
		Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: "os", Value: "plan9"}}}
	r.submit(jobID(1), s)
	searches := 0
	for end := r.now.Add(5 * time.Minute); r.now < end && r.task(jobID(1)).State != grid.Ended && searches < 1000; {
		if finds := r.sent(grid.KindFind); len(finds) > 0 {
			searches++
			f := finds[0].Msg.Find
			r.now += 1e6
			r.deliver(slowID, grid.KindHit, func(m *grid.Message) {
				m.Find.ID, m.Find.Asker, m.Find.Hops, m.Digest = f.ID, f.Asker, 2, []grid.AdEntry{{Ad: ad, Hops: 1}}
			})
			continue
		}
		r.pass(time.Second)
	}
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Exit != grid.ExitUnplaceable || searches > 8 {
		t.Errorf("%v after %d searches in %v, want unplaceable after a few: %v", v.State, searches, time.Duration(r.now),
			v.Traces)
	}
}

// A job from disk may name a policy that this version does not have: the default policy places it.
func TestRestoredJobOfAnUnknownPolicy(t *testing.T) {
	r := newRig(t, nil)
	s := spec(nil)
	s.Policy = "of_a_newer_version"
	r.disk["job"] = grid.Record{Kind: grid.RecRegister, Register: grid.SoleRegister(jobID(1), s, 0)}
	r = r.restart()
	r.want(jobID(1), grid.Placed)
}

// A refusal is known after a restart: the attempt never ran and is not lost.
func TestRefusalIsNotALossAfterARestart(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "windows")
	s := spec(func(s *grid.JobSpec) {
		s.Retries, s.Needs.Labels = 0, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	})
	id := r.offered(jobID(1), s, fastID)
	r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
		m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: grid.WhyQueue}
	})
	r = r.restart()
	r.pass(r.cfg.Lease+time.Second, grid.TimerLease)
	if v := r.task(jobID(1)); v.Lost != 0 || v.Result != nil && v.Result.Cause == grid.Lost {
		t.Errorf("%v, lost %d times: %+v; it was refused", v.State, v.Lost, v.Result)
	}
}

// An evicted class is deleted from disk.
func TestForgottenClassesLeaveTheDisk(t *testing.T) {
	r := newRig(t, nil)
	const most = 256 // classes measured at once
	for i := range most + 50 {
		r.submit(grid.JobID{Origin: selfID, Nonce: [10]byte{1, byte(i), byte(i >> 8)}},
			spec(func(s *grid.JobSpec) { s.Class = fmt.Sprint("c", i) }))
		r.now += 1e9
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: r.fx.Starts[0].Attempt, Result: &grid.Result{Cause: grid.Exited,
			Wall: time.Second}})
	}
	kept := 0
	for _, rec := range r.disk {
		if rec.Kind == grid.RecClass {
			kept++
		}
	}
	if kept > most {
		t.Errorf("%d classes on disk, want at most the %d that are measured", kept, most)
	}
}

// A worker with many attempts of a cancelled job is told so in few messages.
func TestCancelTakesFewMessages(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "windows")
	r.trust(fastID)
	s := spec(func(s *grid.JobSpec) {
		s.Count, s.Needs.Labels = 3000, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
	})
	r.submit(jobID(1), s)
	for offers := r.sent(grid.KindOffer); len(offers) > 0; {
		var next []grid.Send
		for i := range offers {
			id := offers[i].Msg.Offer.ID
			r.deliverFor(fastID, grid.KindAccept, id, nil)
			next = append(next, r.sent(grid.KindOffer)...)
		}
		offers = next
	}
	r.step(grid.Event{Kind: grid.EvCancel, Job: jobID(1)})
	dropped := 0
	for _, m := range r.sent(grid.KindDrop) {
		dropped += len(m.Msg.Attempts)
		if len(m.Msg.Attempts) > grid.MaxBeats {
			t.Errorf("%d attempts in a message", len(m.Msg.Attempts))
		}
	}
	if dropped != 3000 || len(r.fx.Sends) > 6 { // to drop them, and to ask whether they are gone
		t.Errorf("%d attempts in %d messages, want 3000 in 3, and as many questions", dropped, len(r.fx.Sends))
	}
}

// A peer that has not noticed that the connection is new omits the rates that it has sent before: omitted rates do not
// become empty ones.
func TestRatesAreAskedForAgainAfterAOneSidedReconnection(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	poll := func(rates []grid.Rate) {
		r.deliver(fastID, grid.KindPoll, func(m *grid.Message) {
			m.Poll = grid.Poll{ID: 1, Class: "a", Needs: oneCore, Speed: 10, Cores: grid.CPU, Mine: 5, Rates: rates}
		})
	}
	knows := func() bool { // the rate of one core of speed 10 is 7
		mean, _ := r.n.peers.RunTime("a")
		return mean == 10.0/7
	}
	poll([]grid.Rate{{Class: "a", Mu: 7}})
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	poll(nil)
	if s := r.one(grid.KindState).Msg.State; s.Have == 5 && !knows() {
		t.Fatal("says that it has the rates, and has none")
	}
	poll([]grid.Rate{{Class: "a", Mu: 7}})
	if s := r.one(grid.KindState).Msg.State; s.Have != 5 || !knows() {
		t.Errorf("has version %d of the rates, and knows them: %v", s.Have, knows())
	}
}

func TestInputsThatNobodyHasEndTheTask(t *testing.T) {
	r := newRig(t, nil)
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Inputs = []grid.File{{Path: "in", Blob: grid.BlobID{1}, Size: 1}}
	}))
	for range 50 {
		if r.task(jobID(1)).State == grid.Ended {
			break
		}
		if len(r.fx.Fetches) > 0 {
			r.step(grid.Event{Kind: grid.EvFetched, Attempt: r.fx.Fetches[0].Attempt, Err: "nobody has it"})
			continue
		}
		r.pass(time.Minute, grid.TimerRetry)
	}
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Failed || v.ID.N > maxPrepareFailures {
		t.Fatalf("task %+v", v)
	}
}

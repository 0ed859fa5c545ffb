package node

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/replication"
)

// A register of three members: another node's job, of which this node is a member and a worker, and which it takes
// over.

var replicatedJob = grid.JobID{Origin: fastID, Nonce: [10]byte{1}}

var three = []grid.NodeID{fastID, selfID, slowID}

func replicatedAt(i uint32) grid.AttemptID {
	return grid.AttemptID{Task: grid.TaskID{Job: replicatedJob, Index: i}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
}

// newMember makes this node, on a machine that has long been up, a member of the job, and offers it two attempts, of
// which it has room for one.
func newMember(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, nil)
	r.now = 3600e9
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "linux")
	s := spec(func(s *grid.JobSpec) { s.Count = 2 })
	r.deliver(fastID, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 1, Seq: 1, Spec: s, Members: three}
	})
	if a := r.one(grid.KindWriteAck).Msg.Register.Answer; a != grid.RegisterOK {
		t.Fatalf("answer %v", a)
	}
	for i := range uint32(2) {
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: replicatedAt(i), Spec: s, Class: "a", Lease: r.cfg.Lease, Members: three}
		})
	}
	return r
}

// takeOver lets the owner fall silent and this node become the owner with the vote of the third.
func (r *rig) takeOver() {
	r.t.Helper()
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	for end := r.now.Add(time.Minute); len(r.sent(grid.KindCampaign)) == 0; r.pass(time.Second) {
		if r.now > end {
			r.t.Fatal("it never campaigns")
		}
	}
	epoch := r.sent(grid.KindCampaign)[0].Msg.Register.Epoch
	r.deliver(slowID, grid.KindVote, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: epoch, Answer: grid.RegisterOK, Next: 3}
	})
	r.acceptAsSlow()
}

// promiseElsewhere makes fastID, which was the owner, answer a write with the epoch that it has promised to another
// one.
func (r *rig) promiseElsewhere(epoch uint32) {
	r.t.Helper()
	for end := r.now.Add(time.Minute); r.now < end; r.pass(time.Second, grid.TimerRegister) {
		for _, s := range r.sent(grid.KindWrite) {
			if g := s.Msg.Register; s.To == fastID {
				r.deliver(fastID, grid.KindWriteAck, func(m *grid.Message) {
					m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: epoch, Seq: g.Seq, Answer: grid.RegisterHigher}
				})
				return
			}
		}
	}
	r.t.Fatal("nothing is written to the former owner")
}

// acceptAsSlow makes slowID, the third member, answer the writes of the last step.
func (r *rig) acceptAsSlow() {
	r.t.Helper()
	for _, s := range r.sent(grid.KindWrite) {
		if g := s.Msg.Register; s.To == slowID {
			r.deliver(slowID, grid.KindWriteAck, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: g.Epoch, Seq: g.Seq, Answer: grid.RegisterOK}
			})
			return
		}
	}
	r.t.Fatalf("nothing is written to the third member: %v", kindsOf(r.fx.Sends))
}

// Regression: a new owner sends keepalives to the other members, however long its machine has been up. It forgot them
// as silent since then, and heard of nobody any more.
func TestNewOwnerSendsKeepalives(t *testing.T) {
	r := newMember(t)
	r.takeOver()
	for end := r.now.Add(r.cfg.Lease); r.now < end; r.pass(time.Second) {
		for _, s := range r.sent(grid.KindKeepalive) {
			if s.To == slowID {
				return
			}
		}
	}
	t.Error("no keepalive in a lease")
}

// A late message of an earlier owner about an attempt that this node has and has taken over is ignored: nobody would
// notice that it is gone.
func TestLateMessageOfEarlierOwnerIsIgnored(t *testing.T) {
	for _, k := range []grid.Kind{grid.KindDrop, grid.KindResultAck} {
		r := newMember(t)
		r.takeOver()
		r.deliverFor(fastID, k, replicatedAt(1), nil)
		if _, _, ok := r.n.Work(replicatedAt(1)); !ok {
			t.Errorf("%v: the attempt is gone", k)
		}
	}
}

// Regression: the record of an attempt names the job's owner at the time it came. A restarted owner that had taken the
// job over since waited for the start lease of the one before.
func TestRestartedOwnerStartsOwnWork(t *testing.T) {
	r := newMember(t)
	r.takeOver()
	r = r.restart()
	r.join(slowID, 1, "linux")
	for end := r.now.Add(time.Minute); len(r.sent(grid.KindWrite)) == 0 && r.now < end; {
		r.pass(time.Second)
	}
	r.acceptAsSlow()
	for end := r.now.Add(r.cfg.Lease); r.now < end; r.pass(100 * time.Millisecond) {
		if len(r.fx.Starts) > 0 {
			return
		}
	}
	t.Error("nothing starts, though a majority answers")
}

// An owner may first hear of its successor by an offer: results here that were only in the register are kept for the
// new owner all the same.
func TestOfferOfANewOwnerKeepsResults(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members, c.Capacity.CPU = 3, 2*grid.CPU })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	id := jobID(1)
	r.submit(id, spec(func(s *grid.JobSpec) { s.Count, s.Policy = 2, "local" }))
	both := []grid.NodeID{fastID, slowID}
	for range 3 { // keepalives, then writes
		for _, s := range append([]grid.Send(nil), r.fx.Sends...) {
			g := s.Msg.Register
			switch s.Msg.Kind {
			case grid.KindKeepalive:
				r.deliver(s.To, grid.KindKeepaliveAck,
					func(m *grid.Message) { m.Register = grid.RegisterMessage{Seq: g.Seq, Answer: grid.RegisterOK} })
			case grid.KindWrite:
				r.deliver(s.To, grid.KindWriteAck, func(m *grid.Message) {
					m.Register = grid.RegisterMessage{Job: id, Epoch: g.Epoch, Seq: g.Seq, Answer: grid.RegisterOK}
				})
			}
			if len(r.fx.Starts) > 0 {
				break
			}
		}
	}
	if len(r.fx.Starts) != 2 {
		t.Fatalf("%d started: %v", len(r.fx.Starts), r.task(id).Traces)
	}
	first := r.fx.Starts[0].Attempt
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: first, Result: exitZero})
	members := r.replica(id).Members()
	other := grid.AttemptID{Task: grid.TaskID{Job: id, Index: 1}, Attempt: grid.Attempt{Epoch: 2, N: 1}}
	r.deliver(both[0], grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: other, Spec: r.spec(id), Class: "a", Lease: r.cfg.Lease, Members: members}
	})
	if rec, ok := r.disk["work "+first.String()]; !ok || rec.Work.State != grid.WorkFinished || rec.Work.Owner != both[0] {
		t.Errorf("on disk of what has ended: %v, %+v", ok, rec.Work)
	}
}

// asksVote makes a member campaign for an epoch, and returns the answer.
func (r *rig) asksVote(from grid.NodeID, epoch uint32) grid.RegisterAnswer {
	r.t.Helper()
	r.deliver(from, grid.KindCampaign, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: epoch, Spec: r.spec(replicatedJob), Members: three}
	})
	return r.one(grid.KindVote).Msg.Register.Answer
}

// A register that its owner does not list may be taken over, but not before the answer to its last write can no longer
// extend the owner's quorum lease: the answer may still be under way.
func TestUnlistedRegisterWaitsForLastAnswer(t *testing.T) {
	r := newMember(t)
	r.deliver(fastID, grid.KindKeepalive, func(m *grid.Message) {
		m.Register.Seq = 1
		m.Attempts = []grid.AttemptID{{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{9}}}}}
	})
	if a := r.asksVote(slowID, 2); a != grid.RegisterLive {
		t.Errorf("at once: %v, want that the owner is alive", a)
	}
	r.now = r.now.Add(replication.TakeoverDelay(r.cfg.Lease))
	if a := r.asksVote(slowID, 2); a != grid.RegisterOK {
		t.Errorf("after replication.TakeoverDelay(L): %v, want a vote", a)
	}
}

// A member that knows the owner of a newer epoch, without having accepted anything of that epoch, votes for a higher
// one though that owner is alive, as other registers show: else no campaign could succeed.
func TestLiveNewOwnerGetsVote(t *testing.T) {
	r := newMember(t)
	r.step(grid.Event{Kind: grid.EvAnnounce, Peer: slowID, Msg: &grid.Message{Kind: grid.KindTakeover,
		Attempts: []grid.AttemptID{{Task: grid.TaskID{Job: replicatedJob}, Attempt: grid.Attempt{Epoch: 2}}}}})
	if a := r.asksVote(slowID, 3); a != grid.RegisterOK {
		t.Errorf("%v, want a vote", a)
	}
}

// The origin has forgotten a job that its owner, long cut off, wants to go on with: nothing of it is left.
func TestOwnerOfAForgottenJobForgetsIt(t *testing.T) {
	r := newMember(t)
	r.takeOver()
	r.promiseElsewhere(7)
	r.step(grid.Event{Kind: grid.EvPeerUp, Peer: fastID, RTT: time.Millisecond, Kinds: grid.AllKinds})
	for end := r.now.Add(time.Minute); len(r.sent(grid.KindCampaign)) == 0 && r.now < end; {
		r.pass(time.Second)
	}
	epoch := r.sent(grid.KindCampaign)[0].Msg.Register.Epoch
	r.deliver(fastID, grid.KindVote, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: epoch, Answer: grid.RegisterUnknown}
	})
	if _, ok := r.n.Job(replicatedJob); ok {
		t.Fatal("it is still known")
	}
	for i := range uint32(2) {
		if _, _, ok := r.n.Work(replicatedAt(i)); ok {
			t.Errorf("attempt %d of it is still here", i)
		}
	}
	r.pass(time.Minute, grid.TimerRetry)
	if len(r.sent(grid.KindOffer)) > 0 || len(r.fx.Starts) > 0 {
		t.Errorf("sent %v, starts %v", kindsOf(r.fx.Sends), r.fx.Starts)
	}
}

// A worker that is a member drops its attempts when it learns that the job is closed: the owner that would say so may
// be gone for good, and the third member may never have heard of the job.
func TestMemberOfClosedJobKeepsNoAttempt(t *testing.T) {
	r := newMember(t)
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: replicatedAt(0), Result: exitZero})
	r.deliver(fastID, grid.KindWrite, func(m *grid.Message) {
		m.Register = grid.RegisterMessage{Job: replicatedJob, Epoch: 1, Seq: 2, Done: true, Entries: []grid.Entry{
			{Index: 0, Epoch: 1, Attempt: replicatedAt(0).Attempt, Worker: selfID, Result: exitZero},
			{Index: 1, Epoch: 1, Attempt: replicatedAt(1).Attempt, Worker: selfID, Result: exitZero}}}
	})
	for i := range uint32(2) {
		if _, _, ok := r.n.Work(replicatedAt(i)); ok {
			t.Errorf("task %d: it keeps the attempt", i)
		}
	}
}

package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/deposit"
)

// False messages of members. strangerID has nothing to do with the jobs that it names.

var (
	strangerID = grid.NodeID{9}
)

// newOwnerOf submits a job whose tasks run on fastID, with fastID, slowID and this node as members.
func newOwnerOf(t *testing.T, count uint32) (*rig, grid.JobID) {
	t.Helper()
	r := newRig(t, func(c *Config) {
		c.Members, c.Labels = 3, []grid.Label{{Key: "os", Value: "bsd"}}
	})
	r.now = 3600e9
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "bsd")
	id := jobID(1)
	r.submit(id, spec(func(s *grid.JobSpec) {
		s.Count, s.Retries, s.Needs.Labels = count, 0, []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
	r.runWithPeers(2*time.Second, nil)
	if got := r.placed(id); got != int(count) {
		t.Fatalf("%d of %d tasks are placed", got, count)
	}
	return r, id
}

// runWithPeers advances time while honest peers answer: writes, keepalives, polls, offers, and beats of their attempts.
// also is called before each step.
func (r *rig) runWithPeers(d time.Duration, also func()) {
	r.t.Helper()
	for end := r.now.Add(d); r.now < end; {
		r.answerAsPeers()
		if also != nil {
			also()
			r.answerAsPeers()
		}
		r.pass(min(100*time.Millisecond, end.Sub(r.now)))
	}
}

// answerAsPeers makes honest peers answer the messages of the last step, and of the steps that follow from the answers.
func (r *rig) answerAsPeers() {
	r.t.Helper()
	queue := r.sentCopy()
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		m := s.Msg
		switch m.Kind {
		case grid.KindWrite, grid.KindKeepalive:
			r.deliver(s.To, m.Kind+1, func(a *grid.Message) {
				a.Register = grid.RegisterMessage{Job: m.Register.Job, Epoch: m.Register.Epoch, Seq: m.Register.Seq,
					Answer: grid.RegisterOK}
			})
		case grid.KindPoll:
			r.deliver(s.To, grid.KindState, func(a *grid.Message) {
				ect := time.Hour
				if s.To == fastID {
					ect = time.Millisecond
				}
				a.State = grid.State{ID: m.Poll.ID, ECT: ect, Speed: 1, Cores: grid.CPU, Mine: 1}
			})
		case grid.KindReserve:
			if m.Reserve.Ranks == 0 {
				continue
			}
			r.deliver(s.To, grid.KindReserveAck, func(a *grid.Message) { a.Reserve = m.Reserve })
		case grid.KindOffer:
			r.deliverFor(s.To, grid.KindAccept, m.Offer.ID, nil)
		default:
			continue
		}
		queue = append(queue, r.sentCopy()...)
	}
}

// sentCopy returns a copy of the messages of the last step.
func (r *rig) sentCopy() (out []grid.Send) {
	for _, s := range r.fx.Sends {
		s.Msg.Attempts = slices.Clone(s.Msg.Attempts)
		s.Msg.Register.Members, s.Msg.Register.Entries = slices.Clone(s.Msg.Register.Members),
			slices.Clone(s.Msg.Register.Entries)
		out = append(out, s)
	}
	return out
}

// claimOwner makes a node say that somebody owns a job in an epoch: about itself to all, or to this node about anybody.
func (r *rig) claimOwner(from, owner grid.NodeID, id grid.JobID, epoch uint32, announced bool) {
	r.t.Helper()
	r.now++
	m := &grid.Message{Kind: grid.KindTakeover}
	if !announced {
		m.Register = grid.RegisterMessage{Job: id, Epoch: epoch, Owner: owner}
		r.step(grid.Event{Kind: grid.EvMessage, Peer: from, Msg: m})
		return
	}
	m.Attempts = []grid.AttemptID{{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: epoch}}}
	r.step(grid.Event{Kind: grid.EvAnnounce, Peer: from, Msg: m})
}

// Regression: whatever anybody says about who owns a job, its owner goes on as long as a majority answers it: nothing
// is lost, no task is placed again, and the members are asked at most once in a sixth of a lease. Nine such messages
// lost tasks without retries, and a job stood still for as long as they went on.
func TestFalseTakeoversChangeNothingForTheOwner(t *testing.T) {
	for name, lie := range map[string]func(r *rig, id grid.JobID, epoch uint32){
		"a stranger, of itself": func(r *rig, id grid.JobID, e uint32) {
			r.claimOwner(strangerID, strangerID, id, e, true)
		},
		"a stranger, of a member": func(r *rig, id grid.JobID, e uint32) {
			r.claimOwner(strangerID, slowID, id, e, false)
		},
		"a member, of itself":        func(r *rig, id grid.JobID, e uint32) { r.claimOwner(slowID, slowID, id, e, true) },
		"a member, of itself, to us": func(r *rig, id grid.JobID, e uint32) { r.claimOwner(slowID, slowID, id, e, false) },
		"a member, of another":       func(r *rig, id grid.JobID, e uint32) { r.claimOwner(slowID, fastID, id, e, false) },
		"a member, of the last epoch": func(r *rig, id grid.JobID, e uint32) {
			r.claimOwner(slowID, slowID, id, ^uint32(0)-100+e%100, true)
		},
	} {
		r, id := newOwnerOf(t, 6)
		epoch, before := uint32(1), r.n.Stats(r.now).Sent[grid.KindKeepalive]
		began := r.now
		r.runWithPeers(12*time.Second, func() {
			for range 9 {
				epoch++
				lie(r, id, epoch)
			}
			if !r.n.MayAct(r.now, id) {
				t.Fatalf("%s: it may not decide about its job any more after %v", name, r.now.Sub(began))
			}
			var ours []grid.AttemptID // fastID's regular beat
			for i := range uint32(6) {
				v, _ := r.n.Task(grid.TaskID{Job: id, Index: i})
				ours = append(ours, v.ID)
			}
			r.deliver(fastID, grid.KindBeat, func(m *grid.Message) { m.Attempts = ours })
		})
		if x := r.replica(id); r.placed(id) != 6 || x.State().Epoch != 1 || !x.IsOwner() {
			t.Errorf("%s: %d of 6 tasks are placed, epoch %d, owner %v: want all as they were", name, r.placed(id),
				x.State().Epoch, x.IsOwner())
		}
		sent := int(r.n.Stats(r.now).Sent[grid.KindKeepalive] - before)
		if sent > 2*int(12*time.Second/(r.cfg.Lease/6))+12 {
			t.Errorf("%s: %d keepalives in 12 s", name, sent)
		}
	}
}

// A member takes a job over and closes it without the ends of its tasks. The earlier owner panicked when the worker of
// such a task sent its result.
func TestResultAfterAFalseClose(t *testing.T) {
	for _, kind := range []grid.Kind{grid.KindResult, grid.KindBeat, grid.KindRefuse, grid.KindAccept,
		grid.KindStartLease} {
		r, id := newOwnerOf(t, 1)
		given := r.task(id).ID
		r.deliver(slowID, grid.KindWrite, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: id, Epoch: 2, Seq: 1, Done: true}
		})
		r.deliverFor(fastID, kind, given, exitZero)
		if live := r.n.Gauges().Live; r.task(id).State == grid.Ended || live != 0 {
			t.Errorf("%v: the task is %v, %d live", kind, r.task(id).State, live)
		}
	}
}

// newWorkerOf makes this node a worker, but no member, of a job owned by fastID; it has two attempts, one of them
// running.
func newWorkerOf(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, nil)
	r.now = 3600e9
	for _, id := range []grid.NodeID{fastID, slowID, thirdID} {
		r.join(id, 1, "linux")
	}
	for i := range uint32(2) {
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: replicatedAt(i), Spec: spec(func(s *grid.JobSpec) { s.Count = 2 }), Class: "a",
				Lease:   r.cfg.Lease,
				Members: []grid.NodeID{fastID, slowID, thirdID}}
		})
	}
	return r
}

// recipients lists the recipients of a message kind in the following steps, until the next beat.
func (r *rig) recipients(kind grid.Kind) (to []grid.NodeID) {
	r.t.Helper()
	for end := r.now.Add(r.cfg.Lease); r.now < end && len(to) == 0; {
		r.pass(time.Second, grid.TimerBeat)
		for _, s := range r.sent(kind) {
			to = append(to, s.To)
		}
	}
	return to
}

// Regression: a worker keeps reporting to the owner that it knows, whatever one member says, and reports to the
// claimant too; it follows the claim when a majority agrees. One message redirected the beats, and the owner lost what
// ran.
func TestWorkerFollowsAMajority(t *testing.T) {
	r := newWorkerOf(t)
	for e := range uint32(9) {
		r.claimOwner(strangerID, slowID, replicatedJob, 100+e, false)
		r.claimOwner(slowID, slowID, replicatedJob, 2+e, true)
	}
	if who := r.n.worker.Owner(replicatedJob); who != fastID {
		t.Fatalf("on one message it reports to %v", who.Short())
	}
	if to := r.recipients(grid.KindBeat); !slices.Contains(to, fastID) || !slices.Contains(to, slowID) {
		t.Errorf("beats go to %v: want the owner, and the claimant too", to)
	}
	if to := r.recipients(grid.KindStartLease); !slices.Equal(to, []grid.NodeID{fastID}) {
		t.Errorf("whether what waits may start is asked of %v: want the owner", to)
	}
	r.claimOwner(thirdID, slowID, replicatedJob, 10, false)
	if who := r.n.worker.Owner(replicatedJob); who != slowID {
		t.Errorf("a majority says otherwise, and it still reports to %v", who.Short())
	}
}

// An unasked keepalive answer makes nobody a member of the next job, and is an offence; so are answers about a register
// by a node that is no member. A repeated or late answer is none.
func TestUnaskedAnswersAreOffences(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members, c.Policy = 3, "local" })
	for _, id := range []grid.NodeID{fastID, slowID, strangerID} {
		r.join(id, 1, "linux")
	}
	boot := r.cfg.Boot << 40
	for _, seq := range []uint64{boot, boot | 1, boot | 1000, boot | 1<<39} {
		if r.deliver(strangerID, grid.KindKeepaliveAck,
			func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Seq: seq, Answer: grid.RegisterOK}
			}); len(r.fx.Offences) != 1 {
			t.Errorf("an answer %x that nobody asked for: offences %v", seq, r.fx.Offences)
		}
	}
	id := jobID(1)
	r.submit(id, spec(nil))
	keepalives := r.sentCopy()
	for _, s := range keepalives { // the stranger answers for the others
		if s.Msg.Kind == grid.KindKeepalive && s.To != strangerID {
			r.deliver(strangerID, grid.KindKeepaliveAck, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}
			})
		}
	}
	if r.knows(id) || r.n.replicas.IsAlive(r.now, strangerID) {
		t.Fatal("answers to questions that were put to others count")
	}
	for _, s := range keepalives {
		for range 2 {
			if s.Msg.Kind != grid.KindKeepalive || s.To == strangerID {
				continue
			}
			if r.deliver(s.To, grid.KindKeepaliveAck, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}
			}); len(r.fx.Offences) != 0 {
				t.Errorf("an answer that was asked for: offences %v", r.fx.Offences)
			}
		}
	}
	x := r.replica(id)
	if x == nil || slices.Contains(x.Members(), strangerID) {
		t.Fatalf("the job has no members, or the stranger is one: %v", x)
	}
	x.Register.Campaign(0)
	for _, k := range []grid.Kind{grid.KindWriteAck, grid.KindVote} {
		r.deliver(strangerID, k, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: id, Epoch: x.CampaignEpoch(), Seq: 1, Answer: grid.RegisterOK, More: true}
		})
		if len(r.fx.Offences) != 1 {
			t.Errorf("%v by a non-member: offences %v", k, r.fx.Offences)
		}
	}
	if r.deliverFor(strangerID, grid.KindDepositAck, deposit.InputsID(id), nil); len(r.fx.Offences) != 1 {
		t.Errorf("deposited by a non-member: offences %v", r.fx.Offences)
	}
}

// A node that reports no quota left is not chosen, as long as it says so.
func TestMembersWithoutRoomAreNotChosen(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Members, c.Policy = 3, "local" })
	for _, id := range []grid.NodeID{fastID, slowID, thirdID} {
		r.join(id, 1, "linux")
	}
	for i, room := range []uint32{1, 50, 0} { // none; for a job of 49 tasks; any
		id := jobID(byte(i))
		r.submit(id, spec(func(s *grid.JobSpec) { s.Count = 50 }))
		for end := r.now.Add(5 * time.Second); !r.knows(id) && r.now < end; r.pass(submissionTick, grid.TimerRegister) {
			for _, s := range r.sentCopy() {
				if s.Msg.Kind == grid.KindKeepalive {
					r.deliver(s.To, grid.KindKeepaliveAck, func(m *grid.Message) {
						if m.Register = (grid.RegisterMessage{Seq: s.Msg.Register.Seq, Answer: grid.RegisterOK}); s.To == fastID {
							m.Register.Room = room
						}
					})
				}
			}
		}
		v, chosen := r.n.Job(id)
		if !chosen {
			t.Fatalf("room %d: its members were never chosen", room)
		}
		if room > 0 && slices.Contains(v.Members, fastID) {
			t.Errorf("room %d: who has none is chosen", room)
		}
		r.now = r.now.Add(r.cfg.Lease)
	}
}

// A write to a member without quota is repeated, and status queries say so meanwhile.
func TestOwnerWaitsForRoomAndSaysSo(t *testing.T) {
	r, id := newOwnerOf(t, 2)
	r.deliverFor(fastID, grid.KindResult, r.task(id).ID, exitZero)
	for _, s := range r.sentCopy() {
		if s.Msg.Kind == grid.KindWrite {
			r.deliver(s.To, grid.KindWriteAck, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Job: id, Epoch: 1, Seq: s.Msg.Register.Seq, Answer: grid.RegisterFull}
			})
		}
	}
	v, _ := r.n.Job(id)
	if v.Ended != 0 || r.n.Underreplicated(&v) == "" || !r.n.MayAct(r.now, id) {
		t.Errorf("%d have ended, status %q, may act %v: want that it waits for quota, says so, and goes on", v.Ended,
			r.n.Underreplicated(&v), r.n.MayAct(r.now, id))
	}
	r.runWithPeers(r.cfg.Lease/2, nil)
	if v, _ = r.n.Job(id); v.Ended != 1 || r.n.Underreplicated(&v) != "" {
		t.Errorf("with quota: %d have ended, status %q", v.Ended, r.n.Underreplicated(&v))
	}
}

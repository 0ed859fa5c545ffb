package node

import (
	"testing"
	"time"

	"skep/grid"
	"skep/node/quota"
	"skep/node/worker"
)

// What members say about jobs of this node, and about jobs that it takes over from them.

// offerOwn offers this node an attempt of one of its own jobs.
func (r *rig) offerOwn(from grid.NodeID, id grid.JobID, epoch, n uint32, members ...grid.NodeID) {
	r.t.Helper()
	r.deliver(from, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: grid.AttemptID{Task: grid.TaskID{Job: id}, Attempt: grid.Attempt{Epoch: epoch, N: n}},
			Spec:  r.spec(id),
			Class: "a", Lease: r.cfg.Lease, Members: members}
	})
}

// Regression: nobody offers a node attempts of a job that this node alone keeps. Whoever did made it place a task under
// the number of an attempt that was there already, and it panicked, at each restart again.
func TestNobodyOffersOwnJobs(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 10, "linux")
	r.join(slowID, 1, "linux")
	id := jobID(1)
	given := r.offered(id, spec(nil), fastID)
	r.offerOwn(fastID, id, given.Epoch, given.N+1, selfID, fastID, slowID)
	r.offerOwn(fastID, id, given.Epoch+7, 1, selfID, fastID, slowID)
	if works := r.n.worker.Exec().Of(id, nil); len(works) != 0 {
		t.Fatalf("%d attempts were accepted, the first %v", len(works), works[0].ID)
	}
}

// Nor does a member of the register offer them in the epoch of their owner.
func TestMembersOfferOnlyInTheirEpochs(t *testing.T) {
	r, id := newOwnerOf(t, 1)
	for n := uint32(1); n < 4; n++ {
		r.offerOwn(slowID, id, r.replica(id).State().Epoch, n, r.replica(id).Members()...)
	}
	if stale := r.n.Stats(r.now).Stale; stale != 3 || len(r.sent(grid.KindRefuse)) != 0 {
		t.Errorf("%d offers were ignored, of 3", stale)
	}
}

// An attempt that another node offered as a job's owner does not take the place of one that the owner, this node,
// offers itself under the same number.
func TestForgedAttemptYieldsToOwn(t *testing.T) {
	r, id := newOwnerOf(t, 1)
	at, members := r.task(id).ID, r.replica(id).Members()
	own := grid.AttemptID{Task: at.Task, Attempt: grid.Attempt{Epoch: at.Epoch, N: at.N + 1}}
	forged := &grid.Offer{ID: own, Spec: spec(nil), Class: "b", Lease: r.cfg.Lease, Members: members}
	r.n.worker.Reply(r.now, slowID, forged, worker.Fresh, grid.Refusal{}, true, &r.fx)
	if owner := r.n.worker.Owner(id); owner != slowID {
		t.Fatalf("the forged attempt is reported to %v", owner)
	}
	o := &grid.Offer{ID: own, Spec: spec(nil), Class: "a", Lease: r.cfg.Lease, Members: members}
	r.n.offerReceived(r.now, selfID, o, &r.fx)
	if w := r.n.worker.Exec().Get(own); w == nil || w.Class != "a" || r.n.worker.Owner(id) != selfID {
		t.Errorf("%+v, reported to %v", w, r.n.worker.Owner(id))
	}
}

// The first owner of a job made every attempt of it. Claims of an attempt of epoch 0, which no owner ever had, gave any
// node a task that waited, and its result ended the task.
func TestFirstOwnerAdoptsNothing(t *testing.T) {
	for _, members := range []int{1, 3} {
		for _, kind := range []grid.Kind{grid.KindBeat, grid.KindStartLease, grid.KindResult} {
			r := newRig(t, func(c *Config) { c.Members = members })
			r.join(fastID, 10, "linux")
			r.join(slowID, 1, "linux")
			id := grid.AttemptID{Task: grid.TaskID{Job: jobID(1)}, Attempt: grid.Attempt{N: 1}}
			r.submit(jobID(1), spec(func(s *grid.JobSpec) { on("bsd", 2)(s); s.Wait = true }))
			r.runWithPeers(2*time.Second, nil)
			check := func(r *rig, when string) {
				t.Helper()
				r.deliverFor(strangerID, kind, id, exitZero)
				if v := r.task(jobID(1)); v.State != grid.Pending || !v.Worker.IsZero() {
					t.Errorf("%d members, %v, %s: the task is %v at %v", members, kind, when, v.State, v.Worker.Short())
				}
			}
			check(r, "at first")
			r = r.restart()
			check(r, "after a restart")
		}
	}
}

// largeEntry is an entry of a megabyte.
func largeEntry(index uint32) grid.Entry {
	res := &grid.Result{Cause: grid.Exited}
	for range grid.MaxFiles {
		res.Outputs = append(res.Outputs, grid.File{Path: string(make([]byte, grid.MaxPath))})
	}
	return grid.Entry{Index: index, Epoch: 1, Result: res}
}

// abandoned makes this node campaign for a job of many tasks of fastID, whose other member does not exist.
func abandoned(t *testing.T) (*rig, grid.JobID) {
	t.Helper()
	r := newRig(t, nil)
	r.now = 3600e9
	r.join(fastID, 1, "linux")
	id := numbered(fastID, 1)
	if a := r.writeFrom(fastID, id, spec(func(s *grid.JobSpec) { s.Count, s.Retries = grid.MaxCount, 0 }),
		nil); a != grid.RegisterOK {
		t.Fatalf("the register was answered with %v", a)
	}
	for end := r.now.Add(time.Minute); r.replica(id).CampaignEpoch() == 0; {
		if r.now >= end {
			t.Fatal("no campaign")
		}
		r.pass(time.Second)
	}
	return r, id
}

// Regression: entries that come with votes count against the quota of whoever sent the job, as those that are written
// do.
func TestVotesAreBounded(t *testing.T) {
	r, id := abandoned(t)
	entries := grid.Bytes(0)
	for next := uint32(0); next < 1000; next++ {
		reg := r.replica(id)
		if reg.CampaignEpoch() == 0 {
			break
		}
		entries = max(entries, reg.Bytes())
		r.deliver(fastID, grid.KindVote, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: id, Epoch: reg.CampaignEpoch(), Seq: uint64(next), Answer: grid.RegisterOK,
				Next: next + 1, More: true,
				Entries: []grid.Entry{largeEntry(next)}}
		})
	}
	if entries < quota.Each.Bytes/2 || entries > quota.Each.Bytes {
		t.Errorf("votes brought %d bytes: want up to %d", entries, quota.Each.Bytes)
	}
	if reg := r.replica(id); reg.CampaignEpoch() != 0 || reg.Bytes() > entries/2 {
		t.Errorf("the campaign goes on in epoch %d with %d bytes", reg.CampaignEpoch(), reg.Bytes())
	}
}

// A vote whose pages do not go on is not asked for the next page without end.
func TestVotePagesGoOn(t *testing.T) {
	r, id := abandoned(t)
	reg := r.replica(id)
	for range 3 {
		r.deliver(fastID, grid.KindVote, func(m *grid.Message) {
			m.Register = grid.RegisterMessage{Job: id, Epoch: reg.CampaignEpoch(), Answer: grid.RegisterOK, More: true}
		})
	}
	if asked := r.sent(grid.KindCampaign); len(asked) != 0 {
		t.Errorf("the page from %d is requested again", asked[0].Msg.Register.Next)
	}
}

// What a member sends about another node's job counts against its own quota alone, also with the origin's signature.
func TestCopiesOfJobsAreTheSendersOwn(t *testing.T) {
	r := newRig(t, nil)
	r.join(slowID, 1, "linux")
	old := quota.Each
	t.Cleanup(func() { quota.Each = old })
	quota.Each.Tasks = 3 * grid.MaxCount / 2
	before := r.n.coordinator.QuotaLeft(fastID)
	id := numbered(fastID, 1)
	r.writeFrom(slowID, id, spec(func(s *grid.JobSpec) { s.Count, s.Sealed = grid.MaxCount, "signed by its origin" }),
		func(g *grid.RegisterMessage) {
			g.Members = []grid.NodeID{fastID, selfID, slowID}
		})
	if r.n.coordinator.QuotaLeft(slowID) == before || r.n.coordinator.QuotaLeft(fastID) != before {
		t.Errorf("the sender has %d left; the origin has %d of %d", r.n.coordinator.QuotaLeft(slowID),
			r.n.coordinator.QuotaLeft(fastID), before)
	}
}

// takenOver makes this node the owner of a job of many tasks, by the vote of slowID.
func takenOver(t *testing.T) (*rig, grid.JobID) {
	t.Helper()
	return takenOverAs(t, func(s *grid.JobSpec) { s.Count = grid.MaxCount })
}

func takenOverAs(t *testing.T, change func(*grid.JobSpec)) (*rig, grid.JobID) {
	t.Helper()
	r := newRig(t, nil)
	r.now = 3600e9
	r.join(slowID, 1, "linux")
	id := numbered(fastID, 1)
	r.join(fastID, 1, "linux")
	r.writeFrom(fastID, id, spec(change), func(g *grid.RegisterMessage) {
		g.Members = []grid.NodeID{fastID, selfID, slowID}
	})
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	for end := r.now.Add(time.Minute); !r.replica(id).IsOwner(); {
		if r.now >= end {
			t.Fatal("no takeover")
		}
		for _, s := range r.sent(grid.KindCampaign) {
			if s.To == slowID {
				r.deliver(slowID, grid.KindVote, func(m *grid.Message) {
					m.Register = grid.RegisterMessage{Job: id, Epoch: s.Msg.Register.Epoch, Answer: grid.RegisterOK}
				})
			}
		}
		r.pass(time.Second)
	}
	return r, id
}

// Regression: results of attempts that a worker claims count against the quota of the origin of a job taken over; those
// without room are not acknowledged, and their attempts are not lost.
func TestResultsOfTakenOverJobsAreBounded(t *testing.T) {
	r, id := takenOver(t)
	text := make([]byte, grid.MaxInline)
	large := &grid.Result{Cause: grid.Exited, Stdout: grid.Output{Inline: text, Size: grid.MaxInline},
		Stderr: grid.Output{Inline: text, Size: grid.MaxInline}}
	const results = 20_000
	for i := range uint32(results) {
		about := grid.AttemptID{Task: grid.TaskID{Job: id, Index: i}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
		r.deliverFor(slowID, grid.KindBeat, about, nil)
		r.deliverFor(slowID, grid.KindResult, about, large)
	}
	v, _ := r.n.Job(id)
	if kept := r.n.Charged().Bytes; kept > quota.Each.Bytes || kept < quota.Each.Bytes/2 || v.Ended == results {
		t.Errorf("%d bytes and %d ends are kept: want up to %d", kept, v.Ended, quota.Each.Bytes)
	}
	if last, _ := r.n.Task(grid.TaskID{Job: id, Index: results - 1}); last.Lost != 0 || last.State != grid.Placed {
		r.t.Errorf("the last attempt is %v, lost %d times", last.State, last.Lost)
	}
}

// Many tasks of a job taken over end in batches when it is cancelled.
func TestCancelOfTakenOverJobEndsInBatches(t *testing.T) {
	r, id := takenOver(t)
	r.step(grid.Event{Kind: grid.EvCancel, Job: id})
	v, _ := r.n.Job(id)
	if ended := int(v.Spec.Count) - v.Pending; ended == 0 || ended > bulkEndBatch {
		t.Errorf("%d tasks ended in one step: want up to %d", ended, bulkEndBatch)
	}
}

// Registers that name many nodes do not make this node dial them all.
func TestDialledMembersAreBounded(t *testing.T) {
	r := newRig(t, nil)
	r.now = 3600e9
	r.join(fastID, 1, "linux")
	for i := range 3 * maxDialled {
		r.writeFrom(fastID, numbered(fastID, i), spec(nil), func(g *grid.RegisterMessage) {
			g.Members = []grid.NodeID{fastID, selfID, {8, byte(i >> 8), byte(i)}}
		})
	}
	links := 0
	for range 10 {
		r.pass(time.Second)
		links = max(links, len(r.fx.Links))
	}
	if links > maxDialled/2 || links == 0 {
		t.Errorf("%d are dialled at once: want up to %d", links, maxDialled/2)
	}
	r.n.peers.Dial(r.now, strangerID, &r.fx)
	if l := r.fx.Links; len(l) == 0 || l[len(l)-1].Peer != strangerID {
		t.Error("no room is left for a node that tasks need")
	}
}

// Regression: an offer of the owner that contradicts hearsay is refused, and not ignored: the owner would count the
// attempt as lost.
func TestContradictedOwnerIsTold(t *testing.T) {
	r := newRig(t, nil)
	r.now = 3600e9
	for _, id := range []grid.NodeID{slowID, thirdID} {
		r.join(id, 1, "linux")
	}
	offer := func(from grid.NodeID, index uint32, members ...grid.NodeID) {
		r.deliver(from, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: replicatedAt(index), Spec: spec(func(s *grid.JobSpec) { s.Count = 2 }), Class: "a",
				Lease: r.cfg.Lease, Members: members}
		})
	}
	offer(slowID, 0, fastID, slowID, strangerID)
	r.one(grid.KindAccept)
	offer(thirdID, 1, fastID, thirdID, strangerID)
	if why := r.one(grid.KindRefuse).Msg.Refusal.Why; why != grid.WhyDrain && why != grid.WhyOverdue &&
		why != grid.WhyStale && why != grid.WhyMajority {
		t.Errorf("refused as %v: want a reason that is no loss", why)
	}
	offer(thirdID, 1, fastID, thirdID, strangerID)
	if len(r.n.worker.Exec().Of(replicatedJob, nil)) != 1 {
		t.Error("what was refused is here")
	}
}

package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// owed is a worker with the results of so many attempts of a node that is gone; each ended at a time of its own.
func owed(t *testing.T, results int) (r *rig, about func(i int) grid.AttemptID) {
	t.Helper()
	r = newRig(t, nil)
	r.join(fastID, 1, "linux")
	about = func(i int) grid.AttemptID {
		return grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID}, Index: uint32(i)}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	}
	for i := range results {
		r.say(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: about(i), Spec: spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), Class: "a", Lease: r.n.cfg.Lease}
		})
		r.now = r.now.Add(time.Microsecond)
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: about(i), Result: exitZero})
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	return r, about
}

// tellings lets the time for telling results again go on until then, and returns how many wakes that took, and how often each
// result was told.
func (r *rig) tellings(until grid.Time) (wakes int, told map[grid.AttemptID]int) {
	r.t.Helper()
	told = make(map[grid.AttemptID]int)
	var ahead []grid.Time
	note := func(list []grid.Wake) {
		for _, w := range list {
			if w.Timer.Kind == grid.TimerResult {
				at, _ := slices.BinarySearch(ahead, w.At)
				ahead = slices.Insert(ahead, at, w.At)
			}
		}
	}
	for note(r.wakes); len(ahead) > 0 && ahead[0] <= until; note(r.fx.Wakes) {
		r.now, ahead = max(r.now, ahead[0]), ahead[1:]
		r.step(grid.Event{Kind: grid.EvWake, Timer: grid.Timer{Kind: grid.TimerResult}})
		wakes++
		for _, s := range r.sent(grid.KindResult) {
			told[s.Msg.Attempts[0]]++
		}
	}
	return wakes, told
}

// Each result is told again 2 s after it was told first, and then 4 s after that; no wake is for nothing.
func TestResultsAreToldAgainWhenTheyAreDue(t *testing.T) {
	const results = 200
	r, about := owed(t, results)
	wakes, told := r.tellings(r.now.Add(7 * time.Second))
	for i := range results {
		if told[about(i)] != 2 {
			t.Fatalf("result %d was told %d times again, want 2", i, told[about(i)])
		}
	}
	if wakes > 2*results {
		t.Errorf("%d wakes for %d results that are told again twice", wakes, results)
	}
}

// What that costs does not grow with the results of which it is not time yet.
func TestManyResultsAreToldAgainInProportion(t *testing.T) {
	inProportion(t, maxUnacked, func(t *testing.T, results int) time.Duration {
		t.Helper()
		r, about := owed(t, results)
		begin := cpu()
		if _, told := r.tellings(r.now.Add(3 * time.Second)); len(told) != results {
			t.Fatalf("%d of %d were told again", len(told), results)
		}
		took := cpu() - begin
		for i := range results {
			r.about(fastID, grid.KindResultAck, about(i), nil)
		}
		if left := len(r.n.exec.Finished()); left > 0 || r.n.exec.NextResend() != nil {
			t.Fatalf("%d are left", left)
		}
		return took
	})
}

// takenOver announces that the slow node has taken a job over with which this node has nothing to do.
func (r *rig) takenOver(job grid.JobID, epoch uint32) {
	r.t.Helper()
	r.step(grid.Event{Kind: grid.EvAnnounce, Peer: slowID, Msg: &grid.Message{Kind: grid.KindTakeover,
		Attempts: []grid.AttemptID{{Task: grid.TaskID{Job: job}, Attempt: grid.Attempt{Epoch: epoch}}}}})
}

// Of takeovers elsewhere the newest are known, each once.
func TestOfManyTakeoversTheNewestAreKnown(t *testing.T) {
	const jobs = 2*maxCachedOwners + 100
	job := func(i int) grid.JobID { return grid.JobID{Origin: fastID, Nonce: [10]byte{1, byte(i >> 8), byte(i)}} }
	r := newRig(t, nil)
	for i := range jobs {
		r.takenOver(job(i), 2)
	}
	r.takenOver(job(jobs-1), 3)
	if got := len(r.n.ForeignJobs(nil)); got != maxCachedOwners {
		t.Fatalf("%d are known, want %d", got, maxCachedOwners)
	}
	for i := range jobs {
		if _, _, known := r.n.Authority(job(i)); known != (i >= jobs-maxCachedOwners) {
			t.Fatalf("job %d of %d: known %v", i, jobs, known)
		}
	}
}

// While many jobs wait for a node that fits, what others say of themselves costs the same however many of them there are.
func TestManyAdsThatDoNotFitCostInProportion(t *testing.T) {
	inProportion(t, 200, func(t *testing.T, peers int) time.Duration {
		t.Helper()
		const jobs = 500
		r := newRig(t, nil)
		windows := spec(func(s *grid.JobSpec) {
			s.Wait, s.Needs.Labels = true, []grid.LabelNeed{{Key: "os", Values: []string{"windows"}}}
		})
		for i := range jobs {
			r.submit(grid.JobID{Origin: selfID, Nonce: [10]byte{1, byte(i >> 8), byte(i)}}, windows)
		}
		for i := range peers {
			r.join(grid.NodeID{9, byte(i)}, 1, "linux")
		}
		begin := cpu()
		for i := range peers {
			ad := *r.n.gossip.Peer(grid.NodeID{9, byte(i)}).Ad
			ad.Seq.N++
			r.say(ad.Node, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: &ad}} })
		}
		took := cpu() - begin
		if len(r.n.waiting) != jobs {
			t.Fatalf("%d jobs wait, want %d", len(r.n.waiting), jobs)
		}
		r.join(slowID, 1, "windows")
		if left := len(r.n.waiting); left == jobs {
			t.Fatal("all of them wait still when one that fits has come")
		}
		return took
	})
}

// Who owns many registers counts them for all its peers in one pass: ten times as many of both cost ten times as much. What is counted is
// what a look for each peer would count.
func TestManyPeersAreWatchedInProportion(t *testing.T) {
	inProportion(t, 1000, func(t *testing.T, jobs int) time.Duration {
		t.Helper()
		r, _ := keeps(t, jobs)
		for i := range jobs / 5 {
			r.n.coMember(grid.NodeID{9, byte(i >> 8), byte(i)})
		}
		took := time.Hour
		for range 30 {
			begin := cpu()
			r.fx.Reset()
			r.n.sendKeepalives(r.now, &r.fx)
			took = min(took, cpu()-begin)
		}
		for _, p := range r.n.coMembers.all {
			if want := r.n.ownedWith(p.peer); p.shared != want {
				t.Fatalf("%v shares %+v, want %+v", p.peer.Short(), p.shared, want)
			}
		}
		if got := r.n.coMemberOrNone(fastID).shared.count; int(got) != jobs {
			t.Fatalf("a member holds %d of %d", got, jobs)
		}
		return took
	})
}

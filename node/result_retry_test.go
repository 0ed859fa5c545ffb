package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
	"skep/node/worker"
)

// unacknowledged is a worker with results for an owner that is gone; each attempt ended at a time of its own.
func unacknowledged(t *testing.T, results int) (r *rig, about func(i int) grid.AttemptID) {
	t.Helper()
	r = newRig(t, nil)
	r.join(fastID, 1, "linux")
	about = func(i int) grid.AttemptID {
		return grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID}, Index: uint32(i)},
			Attempt: grid.Attempt{Epoch: 1, N: 1}}
	}
	for i := range results {
		r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
			m.Offer = grid.Offer{ID: about(i), Spec: spec(func(s *grid.JobSpec) { s.Count = grid.MaxCount }), Class: "a",
				Lease: r.cfg.Lease}
		})
		r.now = r.now.Add(time.Microsecond)
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: about(i), Result: exitZero})
	}
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
	return r, about
}

// repeats advances time until then, and returns the number of timers fired and how often each result was repeated.
func (r *rig) repeats(until grid.Time) (wakes int, sent map[grid.AttemptID]int) {
	r.t.Helper()
	sent = make(map[grid.AttemptID]int)
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
			sent[s.Msg.Attempts[0]]++
		}
	}
	return wakes, sent
}

// Each result is repeated 2 s after it was first sent, and 4 s after that; no timer fires for nothing.
func TestResultsAreRepeatedWhenDue(t *testing.T) {
	const results = 200
	r, about := unacknowledged(t, results)
	timers, sent := r.repeats(r.now.Add(7 * time.Second))
	for i := range results {
		if sent[about(i)] != 2 {
			t.Fatalf("result %d was repeated %d times, want 2", i, sent[about(i)])
		}
	}
	if timers > 2*results {
		t.Errorf("%d wakes for %d results that are repeated twice", timers, results)
	}
}

// The cost of that does not grow with the results that are not due.
func TestRepeatingResultsIsLinear(t *testing.T) {
	inProportion(t, worker.MaxUnacked, func(t *testing.T, results int) time.Duration {
		t.Helper()
		r, about := unacknowledged(t, results)
		begin := cpu()
		if _, sent := r.repeats(r.now.Add(3 * time.Second)); len(sent) != results {
			t.Fatalf("%d of %d were repeated", len(sent), results)
		}
		took := cpu() - begin
		for i := range results {
			r.deliverFor(fastID, grid.KindResultAck, about(i), nil)
		}
		if left := len(r.n.worker.Exec().Finished()); left > 0 || r.n.worker.Exec().NextResend() != nil {
			t.Fatalf("%d are left", left)
		}
		return took
	})
}

// announceTakeover announces that a node has taken over a job with which this node has nothing to do.
func (r *rig) announceTakeover(from grid.NodeID, job grid.JobID, epoch uint32) {
	r.t.Helper()
	r.step(grid.Event{Kind: grid.EvAnnounce, Peer: from, Msg: &grid.Message{Kind: grid.KindTakeover,
		Attempts: []grid.AttemptID{{Task: grid.TaskID{Job: job}, Attempt: grid.Attempt{Epoch: epoch}}}}})
}

// The owner cache holds the newest takeovers, each once.
func TestOwnerCacheHoldsNewestTakeovers(t *testing.T) {
	const jobs = 2*maxCachedOwners + 100
	job := func(i int) grid.JobID { return grid.JobID{Origin: fastID, Nonce: [10]byte{1, byte(i >> 8), byte(i)}} }
	by := func(i int) grid.NodeID { return grid.NodeID{7, byte(i % 8)} }
	r := newRig(t, nil)
	for i := range jobs {
		r.announceTakeover(by(i), job(i), 2)
	}
	r.announceTakeover(by(jobs-1), job(jobs-1), 3)
	if got := len(r.n.ForeignJobs(nil)); got != maxCachedOwners {
		t.Fatalf("%d are known, want %d", got, maxCachedOwners)
	}
	for i := range jobs {
		if _, _, known := r.n.Authority(job(i)); known != (i >= jobs-maxCachedOwners) {
			t.Fatalf("job %d of %d: known %v", i, jobs, known)
		}
	}
}

// One node cannot evict from the owner cache what others announced, only its own oldest.
func TestOwnerCacheIsShared(t *testing.T) {
	job := func(i int) grid.JobID { return grid.JobID{Origin: fastID, Nonce: [10]byte{1, byte(i >> 8), byte(i)}} }
	r := newRig(t, nil)
	r.announceTakeover(fastID, job(0), 2)
	for i := range 2 * maxCachedOwners {
		r.announceTakeover(slowID, job(i+1), 2)
	}
	if got := len(r.n.ForeignJobs(nil)); got != 1+maxCachedByOne {
		t.Errorf("%d are known, want %d", got, 1+maxCachedByOne)
	}
	for i, want := range map[int]bool{0: true, 1: false, 2*maxCachedOwners - maxCachedByOne: false,
		2*maxCachedOwners - maxCachedByOne + 1: true, 2 * maxCachedOwners: true} {
		if _, _, known := r.n.Authority(job(i)); known != want {
			t.Errorf("job %d: known %v, want %v", i, known, want)
		}
	}
}

// While many jobs wait for a fitting node, an ad costs the same however many wait.
func TestUnfittingAdsAreLinear(t *testing.T) {
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
			r.deliver(ad.Node, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: &ad}} })
		}
		took := cpu() - begin
		if r.n.Gauges().Waiting != jobs {
			t.Fatalf("%d jobs wait, want %d", r.n.Gauges().Waiting, jobs)
		}
		r.join(slowID, 1, "windows")
		if left := r.n.Gauges().Waiting; left == jobs {
			t.Fatal("all of them wait still when one that fits has come")
		}
		return took
	})
}

// An owner of many registers counts them for all peers in one pass: ten times as many of both cost ten times as much.
func TestKeepalivesAreLinear(t *testing.T) {
	inProportion(t, 1000, func(t *testing.T, jobs int) time.Duration {
		t.Helper()
		r, _ := submitAll(t, jobs)
		for i := range jobs / 5 {
			r.n.replicas.Note(grid.NodeID{9, byte(i >> 8), byte(i)})
		}
		took := time.Hour
		for range 30 {
			begin := cpu()
			r.fx.Reset()
			r.n.replicas.SendKeepalives(r.now, nil, &r.fx)
			took = min(took, cpu()-begin)
		}
		for _, s := range r.fx.Sends {
			if got := int(s.Msg.Register.Count); s.To == fastID && got != jobs {
				t.Fatalf("a member holds %d of %d", got, jobs)
			}
		}
		return took
	})
}

package membership

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// Jobs are chosen in the order of submission, also those for which nobody could be probed.
func TestOrderOfSubmission(t *testing.T) {
	for _, unprobed := range []bool{false, true} {
		w := newWorld(3, func(c *Config) { c.Known = 2 })
		if !unprobed {
			w.connect(1, 2)
		}
		for i := range 100 {
			w.submit(i)
		}
		if unprobed {
			w.connect(1, 2)
		}
		w.answer(1)
		w.answer(2)
		for i, job := range w.chosen {
			if job.ID != jobID(i) || !slices.Equal(job.Callers, []uint64{uint64(i) + 1}) || job.Since != start {
				t.Fatalf("unprobed %v: chosen as number %d: %+v", unprobed, i, job)
			}
		}
		if len(w.chosen) != 100 {
			t.Errorf("unprobed %v: %d of 100 are chosen", unprobed, len(w.chosen))
		}
		w.isEmpty(t)
	}
}

// A submission that is repeated while it is pending is one submission, whose callers all get the answer.
func TestRepeatedSubmission(t *testing.T) {
	w := newWorld(3, nil)
	w.connect(1, 2)
	submit := func(i int, caller uint64) {
		w.done(w.Submit(w.now, jobID(i), &grid.JobSpec{Count: 1}, caller, &w.fx))
	}
	submit(0, 7)
	w.pass(probeRetry / 2)
	submit(0, 8)
	w.answer(1)
	w.answer(2)
	if len(w.chosen) != 1 || !slices.Equal(w.chosen[0].Callers, []uint64{7, 8}) || w.chosen[0].Since != start {
		t.Errorf("chosen %+v, want it once, for both callers", w.chosen)
	}
	clear(w.alive)
	submit(1, 7)
	submit(1, 8)
	if w.pass(confirm + time.Second); len(w.fx.Replies) != 2 || w.fx.Replies[0].Caller+w.fx.Replies[1].Caller != 15 {
		t.Errorf("answers %v, want one for each caller", w.fx.Replies)
	}
}

// A job that only its owner may see goes to no node that would show it to others, and delays no other job.
func TestOwnerOnlyJobs(t *testing.T) {
	w := newWorld(3, func(c *Config) { c.Known = 4 })
	w.connect(1, 2)
	w.old[node(1)], w.old[node(2)] = true, true
	ownerOnly := grid.JobSpec{Count: 1, Capability: grid.CapabilityHash{1}}
	w.submitAs(0, ownerOnly)
	w.submit(1)
	w.answer(1)
	w.answer(2)
	if w.members(1) != 3 {
		t.Errorf("%d members of the job that any member may see, want three at once", w.members(1))
	}
	if w.pass(time.Second); w.members(0) != 0 {
		t.Fatalf("%d members of the other, want that it waits for the nodes that this one knew", w.members(0))
	}
	w.connect(3, 4)
	for i := range 20 {
		w.submitAs(2+i, ownerOnly)
	}
	w.answer(3)
	w.answer(4)
	for i := range 22 {
		if w.members(i) != 3 {
			t.Errorf("job %d has %d members, want three", i, w.members(i))
		}
	}
	for _, job := range w.chosen {
		shows := slices.ContainsFunc(job.Others, func(id grid.NodeID) bool { return w.old[id] })
		if shows && job.Spec.Access() == grid.AccessOwner {
			t.Errorf("%x is kept by %v, who would show it", job.ID.Nonce, job.Others)
		}
	}
	w.isEmpty(t)
}

// The answer of a node that may store both of two jobs does not make nodes that may store one of them members of the
// other.
func TestOwnerOnlyJobsAwaitOnlyNodesThatMayStoreThem(t *testing.T) {
	w := newWorld(3, nil)
	w.connect(1, 2, 3, 4)
	w.old[node(1)], w.old[node(2)] = true, true
	w.submitAs(0, grid.JobSpec{Count: 1, Capability: grid.CapabilityHash{1}})
	w.pass(probeRetry)
	w.submit(1)
	w.answer(1)
	if w.answer(3); w.members(1) != 3 || w.members(0) != 0 {
		t.Errorf("%d members of the job that any node may store, %d of the other: want three, and none yet",
			w.members(1), w.members(0))
	}
	if w.answer(4); w.members(0) != 3 {
		t.Errorf("%d members once the second node that may store it has answered", w.members(0))
	}
}

// An answer costs the same however many submissions wait for others: only the oldest is looked at, and those that wait
// for the node that answered, if it was not alive before.
func TestAnswerTouchesWhoAwaitsIt(t *testing.T) {
	const each = 1000
	w := newWorld(3, nil)
	w.connect(1, 2)
	for i := range each {
		w.submit(i)
	}
	w.ads = nil
	w.connect(3, 4)
	for i := range each {
		w.submit(each + i)
	}
	if len(w.awaited) != 4 || len(w.awaited[node(1)]) != each || len(w.awaited[node(3)]) != each {
		t.Fatalf("%d nodes are awaited, the first by %d", len(w.awaited), len(w.awaited[node(1)]))
	}
	looks := func(k byte) int {
		before := w.looks
		w.answer(k)
		return w.looks - before
	}
	if n := looks(3); n != each {
		t.Errorf("who is alive again was looked at %d times, want once for each of %d that wait for it", n, each)
	}
	if n := looks(3); n > 1 {
		t.Errorf("who is still alive was looked at %d times, want once at most", n)
	}
	if len(w.awaited[node(3)]) != each {
		t.Errorf("%d go on waiting for it, want all", len(w.awaited[node(3)]))
	}
	if w.answer(4); len(w.chosen) != each || len(w.queues[0].waiting) != each+each {
		t.Errorf("%d are chosen and %d listed: want those that waited for both",
			len(w.chosen), len(w.queues[0].waiting))
	}
	w.ads = w.ads[:0]
	w.connect(1, 2)
	w.answer(1)
	if w.answer(2); len(w.chosen) != 2*each {
		t.Errorf("%d are chosen, want all", len(w.chosen))
	}
	w.isEmpty(t)
}

// So it does once they have waited for so long that any answer counts.
func TestLateAnswerTouchesTheOldest(t *testing.T) {
	w := newWorld(3, nil)
	w.connect(1, 2)
	for i := range 1000 {
		w.submit(i)
	}
	w.answer(1)
	w.pass(2 * probeRetry)
	before := w.looks
	if w.answer(1); w.looks > before+1 {
		t.Errorf("who is still alive was looked at %d times, want once", w.looks-before)
	}
}

// A submission that waits for long, since the nodes have no room for it, does not keep the record of later ones.
func TestDoneOnesAreTrimmed(t *testing.T) {
	w := newWorld(3, nil)
	w.connect(1, 2)
	w.room[node(1)] = 50
	w.submitAs(0, grid.JobSpec{Count: 50})
	w.answer(1)
	w.answer(2)
	for i := range 1000 {
		w.submit(1 + i)
	}
	if n := len(w.queues[0].waiting); len(w.chosen) != 1000 || w.members(0) != 0 || n > 2 {
		t.Errorf("%d are chosen, %d members of the first, %d listed", len(w.chosen), w.members(0), n)
	}
}

// A node that never answers is not awaited by submissions that are done, but for a few.
func TestAwaitedHasFewDone(t *testing.T) {
	w := newWorld(3, nil)
	w.connect(1, 2, 3)
	for i := range 1000 {
		w.submit(i)
		w.alive[node(1)] = true
		w.answer(2)
		delete(w.alive, node(1))
		delete(w.alive, node(2))
	}
	if n := len(w.awaited[node(3)]); len(w.chosen) != 1000 || n > 16 {
		t.Errorf("%d are chosen, and %d listed as waiting for who never answers", len(w.chosen), n)
	}
}

// One timer is set while anything is pending, and none otherwise.
func TestTimer(t *testing.T) {
	w := newWorld(3, nil)
	if w.SetTimer(w.now, &w.fx); len(w.fx.Wakes) > 0 {
		t.Fatalf("timers %v, want none without submissions", w.fx.Wakes)
	}
	w.connect(1, 2)
	w.submit(0)
	w.submit(1)
	want := grid.Wake{At: start.Add(probeRetry / 2), Timer: grid.Timer{Kind: grid.TimerRegister, Key: 9}}
	if len(w.fx.Wakes) != 1 || w.fx.Wakes[0] != want {
		t.Fatalf("timers %v, want %v", w.fx.Wakes, want)
	}
	probed := len(w.probed)
	if w.pass(probeRetry / 2); len(w.fx.Wakes) != 1 || len(w.probed) == probed {
		t.Errorf("timers %v, probed %v: want the next timer, and that nodes are probed again",
			w.fx.Wakes, w.probed[probed:])
	}
	w.answer(1)
	w.answer(2)
	w.isEmpty(t)
}

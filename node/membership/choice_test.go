package membership

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// A register has fewer members than configured only if too few nodes are connected, at once; or if too few have
// answered, after Confirm. With fewer than two answers by then the submission fails.
func TestFewerMembersThanConfigured(t *testing.T) {
	for _, c := range []struct {
		configured, connected, answered int
		atOnce, late                    int // members; 0 = none are chosen
	}{
		{1, 9, 9, 1, 1},
		{3, 0, 0, 1, 1},
		{3, 1, 0, 1, 1},
		{3, 2, 2, 3, 3},
		{3, 9, 2, 3, 3},
		{3, 9, 1, 0, 0},
		{3, 9, 0, 0, 0},
		{5, 1, 1, 1, 1},
		{5, 2, 2, 3, 3},
		{5, 3, 2, 3, 3},
		{5, 3, 1, 0, 0},
		{5, 4, 4, 5, 5},
		{5, 4, 3, 0, 3},
		{5, 4, 2, 0, 3},
		{5, 4, 1, 0, 0},
	} {
		w := newWorld(c.configured, nil)
		for k := range c.connected {
			w.connect(byte(k + 1))
			w.alive[node(byte(k+1))] = k < c.answered
		}
		if w.submit(0); w.members(0) != c.atOnce {
			t.Errorf("%+v: %d members at once", c, w.members(0))
		}
		if w.pass(confirm - time.Second); w.members(0) != c.atOnce || len(w.fx.Replies) > 0 {
			t.Errorf("%+v: %d members before Confirm, answers %v", c, w.members(0), w.fx.Replies)
		}
		if w.pass(2 * time.Second); w.members(0) != c.late {
			t.Errorf("%+v: %d members after Confirm", c, w.members(0))
		}
		if refused := len(w.fx.Replies) == 1; refused != (c.late == 0) {
			t.Errorf("%+v: answers %v", c, w.fx.Replies)
		}
		w.isEmpty(t)
	}
}

// A node that has just started waits for those that it knew, and for the ads of those that are connected, before a
// register gets fewer members for lack of them.
func TestMorePeersAreExpected(t *testing.T) {
	for _, c := range []struct {
		what       string
		known      int
		expectsAds bool
		waits      time.Duration
	}{
		{"it knew nobody", 0, false, 0},
		{"it knew one", 1, false, 0}, // who would make no majority
		{"it knew two", 2, false, startupGrace},
		{"an ad has not come", 0, true, 2 * probeRetry},
		{"it knew two, and an ad has not come", 2, true, startupGrace},
	} {
		w := newWorld(3, func(cfg *Config) { cfg.Known = c.known })
		w.expectsAds = c.expectsAds
		w.submit(0)
		for len(w.chosen) == 0 && w.now < start.Add(time.Minute) {
			w.pass(probeRetry / 2)
		}
		if waited := w.now.Sub(start); w.members(0) != 1 || waited != c.waits {
			t.Errorf("%s: %d members after %v, want one after %v", c.what, w.members(0), waited, c.waits)
		}
	}
	w := newWorld(3, func(cfg *Config) { cfg.Known = 2 })
	w.now = start.Add(startupGrace)
	if w.submit(0); w.members(0) != 1 {
		t.Errorf("long after the start: %d members, want one at once", w.members(0))
	}
}

// A node that keeps as much as it may is left out. What it says is the number of tasks that are too many.
func TestNodesWithoutRoomAreLeftOut(t *testing.T) {
	for room, taken := range map[uint32]bool{0: true, 1: false, 50: false, 51: true} {
		w := newWorld(3, nil)
		w.connect(1, 2)
		w.alive[node(1)], w.alive[node(2)], w.room[node(1)] = true, true, room
		w.submitAs(0, grid.JobSpec{Count: 50})
		if got := w.members(0) == 3; got != taken {
			t.Errorf("room %d: %d members of a job of 50 tasks", room, w.members(0))
		}
		if w.pass(confirm + time.Second); taken {
			continue
		}
		if len(w.fx.Replies) != 1 || !strings.Contains(w.fx.Replies[0].Err, "1 of them keep as much of it as") {
			t.Errorf("room %d: answers %v, want one that says so", room, w.fx.Replies)
		}
	}
}

// For half a second only the nodes that were probed first are accepted, since they are spread; then whoever has
// answered.
func TestProbedNodesArePreferred(t *testing.T) {
	w := newWorld(3, nil)
	w.connect(1, 2, 3, 4, 5, 6)
	w.submit(0)
	var preferred byte
	first := map[grid.NodeID]bool{}
	for _, id := range w.probed {
		first[id] = true
	}
	for k := range byte(6) {
		if first[node(k+1)] {
			preferred = k + 1
		} else {
			w.answer(k + 1)
		}
	}
	if w.answer(preferred); len(first) != 4 || w.members(0) != 0 {
		t.Fatalf("probed %v, %d members: want none while only one of them has answered", first, w.members(0))
	}
	if w.pass(probeRetry - 1); w.members(0) != 0 {
		t.Fatalf("%d members before half a second is over, want none", w.members(0))
	}
	if w.pass(1); w.members(0) != 3 {
		t.Errorf("%d members, want three of those that have answered", w.members(0))
	}
}

// If no candidate was probed for a submission, any answer completes it, at once and not at the next timer.
func TestUnprobedSubmissionTakesAnyAnswer(t *testing.T) {
	w := newWorld(3, func(c *Config) { c.Known = 2 })
	w.submit(0)
	w.connect(1, 2)
	w.answer(1)
	if w.answer(2); w.members(0) != 3 || len(w.probed) > 0 {
		t.Errorf("%d members, probed %v: want three without a probe", w.members(0), w.probed)
	}
	w.isEmpty(t)
}

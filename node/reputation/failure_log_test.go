package reputation

import (
	"testing"
	"time"

	"skep/grid"
)

const second = grid.Time(time.Second)

var (
	selfID = grid.NodeID{1}
	fastID = grid.NodeID{2}
	slowID = grid.NodeID{3}
)

// A node that fails a class which others run is blacklisted for that class alone; then one task probes it. A failed
// probe doubles the back-off, a success ends it.
func TestFailingNodeIsBlacklisted(t *testing.T) {
	var s FailureLog
	now := 10 * second
	ends := func(class string, id grid.NodeID, good bool, times int) {
		for range times {
			now += second
			s.record(now, class, id, good)
		}
	}
	blacklisted := func(class string, id grid.NodeID) bool {
		c := s.class(class)
		b := c.node(id)
		return c.blacklisted(now, b)
	}
	ends("a", fastID, true, 4)
	ends("b", slowID, true, 4)
	ends("a", slowID, false, 2)
	if blacklisted("a", slowID) {
		t.Error("blacklisted after two failures")
	}
	ends("a", slowID, false, 1)
	if !blacklisted("a", slowID) || blacklisted("a", fastID) || blacklisted("b", slowID) {
		t.Error("after three failures of a class: want that node blacklisted for that class alone")
	}
	if why := s.Refusal(now, "a", slowID); why != (grid.Refusal{Why: grid.WhyAvoided, Detail: "3 of 3 failed there"}) {
		t.Errorf("it is blacklisted because %q", why)
	}
	for _, pause := range []time.Duration{minBackoff, 2 * minBackoff, 4 * minBackoff} {
		now = now.Add(pause - 2*time.Second)
		if !blacklisted("a", slowID) {
			t.Fatalf("no longer blacklisted before %v have passed", pause)
		}
		now += 2 * second
		if blacklisted("a", slowID) {
			t.Fatalf("still blacklisted after %v", pause)
		}
		s.Probe(now, "a", slowID)
		if !blacklisted("a", slowID) {
			t.Fatal("a second task may probe it")
		}
		ends("a", slowID, false, 1)
	}
	ends("a", slowID, true, 1)
	if blacklisted("a", slowID) || s.class("a").listed != 0 {
		t.Error("blacklisted though the task that probed it succeeded")
	}
}

// A class that fails everywhere, or half of the time, is the program's fault.
func TestFailingClassBlacklistsNobody(t *testing.T) {
	var s FailureLog
	now := second
	for k := range 400 {
		now += second
		for i, id := range []grid.NodeID{fastID, slowID, selfID} {
			s.record(now, "always", id, false)
			s.record(now, "half", id, (k*7+i*3)%16 < 8)
		}
	}
	for _, class := range []string{"always", "half"} {
		c := s.class(class)
		for i := range c.nodes {
			if b := &c.nodes[i]; c.blacklisted(now, b) {
				t.Errorf("class %s: a node is blacklisted, %s, like at the others", class, b.refusal().Detail)
			}
		}
	}
}

// The log is bounded in classes and in nodes.
func TestFailureLogIsBounded(t *testing.T) {
	var s FailureLog
	now := second
	for k := range 3 * maxFailureNodes {
		now += second
		id := grid.NodeID{1, byte(k), byte(k >> 8)}
		for range 3 {
			s.record(now, "a", id, false)
		}
		s.record(now, string(rune('b'+k)), id, k%2 == 0)
	}
	if len(s.classes) > maxFailureClasses || len(s.class("a").nodes) > maxFailureNodes {
		t.Errorf("%d classes, %d nodes of one: want at most %d and %d", len(s.classes), len(s.class("a").nodes),
			maxFailureClasses, maxFailureNodes)
	}
	listed, c := 0, s.class("a")
	for i := range c.nodes {
		if c.nodes[i].until > 0 {
			listed++
		}
	}
	if listed != c.listed {
		t.Errorf("%d nodes are blacklisted, %d are counted", listed, c.listed)
	}
}

// A result counts by its cause: what the owner caused says nothing about the node.
func TestCausesOfFailure(t *testing.T) {
	for cause, want := range map[grid.Cause]bool{
		grid.Exited: true, grid.Signaled: true, grid.MemoryExceeded: true, grid.CannotExecute: true, grid.NotFound: true,
		grid.Failed: true, grid.TimedOut: false, grid.Cancelled: false, grid.Lost: false,
	} {
		var s FailureLog
		for k := range minFailures {
			s.Ended(grid.Time(k)*second, "a", slowID, &grid.Result{Cause: cause, Exit: 1})
		}
		if got := s.Blacklist("a") != nil; got != want {
			t.Errorf("%v: blacklisted %v, want %v", cause, got, want)
		}
	}
	var s FailureLog
	for k := range minFailures {
		s.Failed(grid.Time(k)*second, "a", slowID)
	}
	if s.Blacklist("a") == nil {
		t.Error("failures without a result do not count")
	}
}

// Excludes, Excluded and TakeChange agree, whether a node comes onto the list or leaves it as time passes.
func TestExclusionsAreReportedOnChange(t *testing.T) {
	var s FailureLog
	now := 10 * second
	if s.TakeChange() || s.Blacklist("a").Excludes(now, slowID) {
		t.Fatal("an empty log lists a node")
	}
	for range minFailures {
		s.Failed(now, "a", slowID)
	}
	s.Ended(now, "a", fastID, &grid.Result{Cause: grid.Exited})
	c := s.Blacklist("a")
	if !s.TakeChange() || s.TakeChange() || !c.Excludes(now, slowID) || c.Excludes(now, fastID) || !s.TakeChange() {
		t.Error("want a change when the node is listed, and one when it is first left out")
	}
	if c.Excludes(now, slowID); s.TakeChange() {
		t.Error("asking again is a change")
	}
	for id, why := range c.Excluded() {
		if id != slowID || why != s.Refusal(now, "a", slowID) {
			t.Errorf("excluded: %v, %v", id.Short(), why)
		}
	}
	now = now.Add(minBackoff)
	if c.Excludes(now, slowID) || !s.TakeChange() {
		t.Error("want a change when the back-off is over")
	}
	for id := range c.Excluded() {
		t.Errorf("%v is still left out", id.Short())
	}
	for range s.Blacklist("b").Excluded() {
		t.Error("a class without failures leaves out a node")
	}
}

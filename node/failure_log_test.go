package node

import (
	"testing"
	"time"

	"skep/grid"
)

const second = grid.Time(time.Second)

// A node that fails a class which others run is blacklisted for that class alone; then one task probes it. A failed
// probe doubles the back-off, a success ends it.
func TestFailingNodeIsBlacklisted(t *testing.T) {
	var s failureLog
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
	if b := s.class("a").node(slowID); b.describe() != "3 of 3 failed there" {
		t.Errorf("it is blacklisted because %q", b.describe())
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
		s.class("a").node(slowID).probe(now)
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
	var s failureLog
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
				t.Errorf("class %s: a node is blacklisted, %s, like at the others", class, b.describe())
			}
		}
	}
}

// The log is bounded in classes and in nodes.
func TestFailureLogIsBounded(t *testing.T) {
	var s failureLog
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
		t.Errorf("%d classes, %d nodes of one: want at most %d and %d", len(s.classes), len(s.class("a").nodes), maxFailureClasses, maxFailureNodes)
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

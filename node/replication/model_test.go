package replication

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"runtime/debug"
	"testing"
)

var deep = flag.Bool("register.deep", false, "explore larger instances too: minutes, and gigabytes")

// explore visits every world reachable from the first, breadth first, and returns their number; a world that violates
// an invariant ends it.
func explore(m *model) (worlds int, wrong string) {
	seen := map[[16]byte]struct{}{}
	next := []*world{m.first()}
	visit := func(w *world) {
		w.check()
		if w.wrong != "" && wrong == "" {
			wrong = w.wrong + m.describe(w)
		}
		sum := sha256.Sum256([]byte(m.key(w)))
		if _, known := seen[[16]byte(sum[:])]; !known {
			seen[[16]byte(sum[:])] = struct{}{}
			next = append(next, w)
		}
	}
	for len(next) > 0 && wrong == "" {
		now := next
		next = nil
		for _, w := range now {
			m.after(w, visit)
		}
	}
	return len(seen), wrong
}

// describe lists the messages of a world that can still have an effect.
func (m *model) describe(w *world) string {
	s := ""
	for _, n := range w.sent {
		l := &m.messages[n]
		s += fmt.Sprintf("\n%d to %d: %d %+v", l.from, l.to, l.kind, l.g)
	}
	return s
}

// Every interleaving of a small instance: three members and one task, an owner of the first epoch and one or two
// members that campaign for later ones, each message lost, repeated and late in every way, and one crash of any member
// at any time. Nothing committed is ever committed with another value, and a job that its origin knows is never void.
// Worlds that differ only in messages without effect count as one.
func TestEveryInterleaving(t *testing.T) {
	models := []model{
		{campaigns: [4]uint32{0, 2, 0}},
		{campaigns: [4]uint32{0, 2, 2}},
		{campaigns: [4]uint32{0, 2, 0}, crashes: 1},
		{campaigns: [4]uint32{0, 2, 0}, cancels: true},
		{campaigns: [4]uint32{0, 2, 2}, ends: true},
		{campaigns: [4]uint32{0, 2, 0}, cancels: true, ends: true},
		{campaigns: [4]uint32{0, 2, 0}, ends: true, evicts: true},
		{campaigns: [4]uint32{0, 2, 2}, ends: true, evicts: true},
		{campaigns: [4]uint32{0, 2, 0}, cancels: true, ends: true, evicts: true},
		{campaigns: [4]uint32{2, 0, 0}, crashes: 1},
		{campaigns: [4]uint32{0, 2, 0}, fails: true},
		{campaigns: [4]uint32{0, 2, 0}, fails: true, ends: true},
		{campaigns: [4]uint32{0, 0, 0}, ends: true, reopens: true},
		{replaces: 1},
		{replaces: 1, joined: true, out: 3, campaigns: [4]uint32{0, 0, 2, 0}},
		// regression: the owner's campaign to renew its epoch was won after the close, and a member's state went back
		{campaigns: [4]uint32{2, 0, 0}, ends: true},
	}
	if *deep {
		models = append(models, model{replaces: 1, joined: true, out: 3, campaigns: [4]uint32{0, 2, 0, 0}},
			model{replaces: 1, joined: true, out: 3, campaigns: [4]uint32{0, 0, 2, 0}, crashes: 1},
			model{campaigns: [4]uint32{0, 2, 3}}, model{campaigns: [4]uint32{3, 2, 0}},
			model{campaigns: [4]uint32{2, 2, 0}, ends: true, evicts: true}, model{campaigns: [4]uint32{0, 2, 0}, crashes: 1,
				ends: true}, model{campaigns: [4]uint32{0, 2, 2}, crashes: 1, ends: true},
			model{campaigns: [4]uint32{0, 2, 0}, ends: true, reopens: true},
			model{campaigns: [4]uint32{0, 2, 0}, fails: true, crashes: 1}, model{campaigns: [4]uint32{0, 2, 2}, fails: true})
	}
	defer debug.SetGCPercent(debug.SetGCPercent(500)) // worlds stay: a collection frees little
	for _, m := range models {
		worlds, wrong := explore(&m)
		if wrong != "" {
			t.Errorf("campaigns %v, %d crashes: %s", m.campaigns, m.crashes, wrong)
		}
		t.Logf("campaigns %v, %d crashes, cancels %v, ends %v, evicts %v, fails %v, reopens %v, %d replaced: %d worlds",
			m.campaigns, m.crashes, m.cancels, m.ends, m.evicts, m.fails, m.reopens, m.replaces, worlds)
		if worlds < 500 {
			t.Errorf("campaigns %v: only %d worlds: the instance tests nothing", m.campaigns, worlds)
		}
	}
}

// The exploration finds errors: here a crash makes members forget their votes.
func TestForgottenPromisesAreFound(t *testing.T) {
	m := model{campaigns: [4]uint32{0, 2, 0}, crashes: 1, forgets: true}
	if worlds, wrong := explore(&m); wrong == "" {
		t.Errorf("%d worlds and nothing wrong in any", worlds)
	}
}

// Here members that evict the closed job leave no tombstones.
func TestAmnesiaIsFound(t *testing.T) {
	m := model{campaigns: [4]uint32{0, 2, 0}, ends: true, evicts: true, amnesia: true}
	if worlds, wrong := explore(&m); wrong == "" {
		t.Errorf("%d worlds and nothing wrong in any", worlds)
	} else {
		t.Logf("%d worlds: %s", worlds, wrong)
	}
}

// Here a change of members is taken for settled as it is made: the owner and the newcomer decide, and so do the member
// that was replaced and the one that has not heard of it.
func TestUnsettledChangesAreFound(t *testing.T) {
	m := model{replaces: 1, joined: true, out: 3, campaigns: [4]uint32{0, 0, 2, 0}, settles: true}
	if worlds, wrong := explore(&m); wrong == "" {
		t.Errorf("%d worlds and nothing wrong in any", worlds)
	}
}

// Here voters do not say whose epoch they have accepted: an owner that was succeeded takes a higher epoch for its own
// renewed.
func TestUnsaidOwnersAreFound(t *testing.T) {
	m := model{campaigns: [4]uint32{3, 2, 0}, hidesOwner: true}
	if worlds, wrong := explore(&m); wrong == "" {
		t.Errorf("%d worlds and nothing wrong in any", worlds)
	}
}

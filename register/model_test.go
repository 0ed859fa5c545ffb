package register

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"testing"
)

var deep = flag.Bool("register.deep", false, "explore larger instances too: minutes, and gigabytes")

// explore visits every world that can follow from the first, breadth first, and returns their number; a world
// in which something is wrong ends it.
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

// describe lists the letters of a world that can still have an effect.
func (m *model) describe(w *world) string {
	s := ""
	for _, n := range w.sent {
		l := &m.messages[n]
		s += fmt.Sprintf("\n%d to %d: %d %+v", l.from, l.to, l.kind, l.g)
	}
	return s
}

// Every interleaving of a small instance: three members and one task, an owner of the first epoch and one or two
// members that try for later ones, each letter lost, repeated and late in every way, and one crash of any member at
// any time. Nothing that was final is ever final with another value, and a job that its origin knows is never
// taken for one that nobody knows. Worlds that differ only in letters without effect count as one.
func TestEveryInterleaving(t *testing.T) {
	models := []model{
		{campaigns: [3]uint32{0, 2, 0}},
		{campaigns: [3]uint32{0, 2, 2}},
		{campaigns: [3]uint32{0, 2, 0}, crashes: 1},
		{campaigns: [3]uint32{0, 2, 0}, cancels: true},
		{campaigns: [3]uint32{0, 2, 2}, ends: true},
		{campaigns: [3]uint32{0, 2, 0}, cancels: true, ends: true},
		{campaigns: [3]uint32{2, 0, 0}, crashes: 1},
		{campaigns: [3]uint32{2, 0, 0}, ends: true}, // a member went back: the owner's try to renew its epoch was won after the end
	}
	if *deep {
		models = append(models, model{campaigns: [3]uint32{0, 2, 3}}, model{campaigns: [3]uint32{3, 2, 0}}, model{campaigns: [3]uint32{0, 2, 0}, crashes: 1, ends: true}, model{campaigns: [3]uint32{0, 2, 2}, crashes: 1, ends: true})
	}
	for _, m := range models {
		worlds, wrong := explore(&m)
		if wrong != "" {
			t.Errorf("bids %v, %d crashes: %s", m.campaigns, m.crashes, wrong)
		}
		t.Logf("bids %v, %d crashes, cancels %v, ends %v: %d worlds", m.campaigns, m.crashes, m.cancels, m.ends, worlds)
		if worlds < 500 {
			t.Errorf("bids %v: only %d worlds: the instance tests nothing", m.campaigns, worlds)
		}
	}
}

// The exploration finds what is wrong: here members forget in a crash what they promised.
func TestForgottenPromisesAreFound(t *testing.T) {
	m := model{campaigns: [3]uint32{0, 2, 0}, crashes: 1, forgets: true}
	if worlds, wrong := explore(&m); wrong == "" {
		t.Errorf("%d worlds and nothing wrong in any", worlds)
	}
}

// Here members do not say whose epoch they have accepted: an owner that was succeeded takes a higher epoch for its own renewed.
func TestUnsaidOwnersAreFound(t *testing.T) {
	m := model{campaigns: [3]uint32{3, 2, 0}, hidesOwner: true}
	if worlds, wrong := explore(&m); wrong == "" {
		t.Errorf("%d worlds and nothing wrong in any", worlds)
	}
}

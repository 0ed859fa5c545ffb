package policies

import (
	"fmt"
	"slices"
	"testing"

	"skep/balance"
	"skep/grid"
)

// recorder is a policy that records what it is told.
type recorder struct {
	balance.Policy
	told []balance.Outcome
}

func (r *recorder) Note(o balance.Outcome) {
	o.Rates = slices.Clone(o.Rates)
	r.told = append(r.told, o)
}

// take returns what was told since the last call.
func (r *recorder) take() []balance.Outcome {
	told := r.told
	r.told = nil
	return told
}

func newSet() Set {
	cfg := balance.Node()
	return New(Config{Seed: 7, Balance: &cfg})
}

// get has the set make or find a policy, and removes those that are not needed if they are too many, as a node does.
func get(t *testing.T, s *Set, name string, needed ...string) balance.Policy {
	t.Helper()
	p, err := s.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	if s.Crowded() {
		keep := map[string]bool{name: true}
		for _, other := range needed {
			keep[other] = true
		}
		s.Keep(keep)
	}
	return p
}

func TestAPolicyIsMadeOnce(t *testing.T) {
	s := newSet()
	a, b := get(t, &s, "lpas_dec"), get(t, &s, "kpb:3")
	if get(t, &s, "lpas_dec") != a || get(t, &s, "kpb:3") != b || a == b || s.Len() != 2 {
		t.Errorf("%d policies of two names", s.Len())
	}
	if _, err := s.Get("nonsense"); err == nil || s.Len() != 2 {
		t.Errorf("%d policies, error %v: want an error and no policy of an unknown name", s.Len(), err)
	}
}

// One that makes up names cannot have the node keep a policy for each; those that are needed are never removed, however
// many they are.
func TestPoliciesNotNeededAreRemoved(t *testing.T) {
	s := newSet()
	own := get(t, &s, "lpas_dec")
	for i := range 1000 {
		if get(t, &s, fmt.Sprintf("guided_lpas:%d", i+1), "lpas_dec"); s.Len() > minPolicies {
			t.Fatalf("%d policies after %d names", s.Len(), i+1)
		}
	}
	if get(t, &s, "lpas_dec") != own {
		t.Error("the policy that was needed throughout is another now")
	}
	needed, most := []string{"lpas_dec"}, 0
	for i := range 100 {
		name := fmt.Sprintf("kpb:%d", i+1)
		needed = append(needed, name)
		get(t, &s, name, needed...)
		most = max(most, s.Len())
	}
	for i := range 1000 {
		get(t, &s, fmt.Sprintf("guided_lpas:%d", i+1), needed...)
		most = max(most, s.Len())
	}
	if most < 101 || most > 2*102 {
		t.Errorf("up to %d policies where 101 are needed, want at most twice as many", most)
	}
}

func TestEveryPolicyIsToldInOrder(t *testing.T) {
	s := newSet()
	a, b := &recorder{}, &recorder{}
	s.Use("b", b)
	s.Use("a", a)
	for i := range byte(3) {
		s.Note(balance.Outcome{Kind: balance.Placed, Node: grid.NodeID{i}})
	}
	for _, r := range []*recorder{a, b} {
		if len(r.told) != 3 || r.told[0].Node != (grid.NodeID{0}) || r.told[2].Node != (grid.NodeID{2}) {
			t.Errorf("told %v, want all three in order", r.told)
		}
	}
	if s.Use("b", &recorder{}); s.Len() != 2 {
		t.Errorf("%d policies after one was replaced, want 2", s.Len())
	}
}

// The default policy is not made before something needs it, and what it draws does not depend on when that was.
func TestTheDefaultPolicyIsMadeWhenNeeded(t *testing.T) {
	draws := func(first ...string) (nodes []grid.NodeID) {
		cfg := balance.Node()
		s := New(Config{Seed: 7, Balance: &cfg, Default: "random"})
		if s.Default() != nil || s.Len() != 0 {
			t.Fatal("the default policy is made before it is needed")
		}
		for _, name := range first {
			get(t, &s, name)
		}
		p := get(t, &s, "random")
		if s.Default() != p {
			t.Fatal("the default policy is another than the one of its name")
		}
		var answers []balance.State
		for k := range 8 {
			answers = append(answers, balance.State{Node: grid.NodeID{byte(k + 1)}, ECT: 1})
		}
		for range 8 {
			nodes = append(nodes, p.Choose(1, &grid.Task{}, answers).Node)
		}
		return nodes
	}
	if early, late := draws(), draws("kpb:2", "mct"); !slices.Equal(early, late) {
		t.Errorf("made first it draws %v, made last %v", early, late)
	}
}

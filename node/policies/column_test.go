package policies

import (
	"testing"

	"skep/balance"
	"skep/grid"
)

var self, peer = grid.NodeID{1}, grid.NodeID{2}

// A column is told when it differs in anything, and otherwise not: the LP is solved again for each.
func TestOnlyChangedColumnsAreTold(t *testing.T) {
	s, r := newSet(), &recorder{}
	s.Use("own", r)
	var told Mark
	tell := func(slots float64, column ...grid.Rate) int {
		s.Tell(1, peer, column, slots, &told)
		return len(r.take())
	}
	a := grid.Rate{Class: "a", Alpha: 1, Mu: 2}
	if tell(4, a) != 1 || tell(4, a) != 0 {
		t.Fatal("a column is not told once")
	}
	for what, column := range map[string][]grid.Rate{
		"an arrival rate": {{Class: "a", Alpha: 1.5, Mu: 2}}, "an execution rate": {{Class: "a", Alpha: 1, Mu: 2.5}},
		"both, swapped": {{Class: "a", Alpha: 2, Mu: 1}}, "the class": {{Class: "b", Alpha: 1, Mu: 2}},
		"another class": {a, {Class: "b", Mu: 1}}, "no class": {},
	} {
		if tell(4, column...) != 1 || tell(4, a) != 1 {
			t.Errorf("a column that differs in %s is not told", what)
		}
	}
	if tell(3, a) != 1 {
		t.Error("another number of slots is not told")
	}
}

// What is told is the column of that node; this node's and each peer's are compared with their own predecessors.
func TestColumnsOfNodesAreApart(t *testing.T) {
	s, r := newSet(), &recorder{}
	s.Use("own", r)
	var told Mark
	column := []grid.Rate{{Class: "a", Mu: 1}}
	s.TellOwn(5, self, column, 2)
	s.Tell(5, peer, column, 2, &told)
	got := r.take()
	if len(got) != 2 || got[0].Node != self || got[1].Node != peer {
		t.Fatalf("told %v, want a column of each node", got)
	}
	if o := got[0]; o.Kind != balance.Rates || o.At != 5 || o.Slots != 2 || o.Rates[0] != column[0] {
		t.Errorf("told %+v", o)
	}
	if s.TellOwn(6, self, column, 2); len(r.take()) != 0 {
		t.Error("this node's column is told again")
	}
}

// A new policy knows no column: all are told again, to all.
func TestANewPolicyIsToldAllColumns(t *testing.T) {
	s, r := newSet(), &recorder{}
	s.Use("own", r)
	var told Mark
	column := []grid.Rate{{Class: "a", Mu: 1}}
	tell := func() {
		s.TellOwn(1, self, column, 1)
		s.Tell(1, peer, column, 1, &told)
	}
	tell()
	if !s.TakeChange() || s.TakeChange() {
		t.Error("columns to tell are not reported once")
	}
	r.take()
	second := &recorder{}
	s.Use("second", second)
	if !s.TakeChange() {
		t.Error("a new policy is no reason to look at the columns")
	}
	if tell(); len(r.take()) != 2 || len(second.take()) != 2 {
		t.Error("a new policy was not told both columns")
	}
	if s.ColumnsChanged(); !s.TakeChange() {
		t.Error("a change is not reported")
	}
}

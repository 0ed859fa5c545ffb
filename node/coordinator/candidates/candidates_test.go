package candidates

import (
	"iter"
	"slices"
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

func id(k byte) grid.NodeID { return grid.NodeID{k} }

// An answer counts once, of a node that was asked, and only in its round.
func TestAnAnswerCountsOnce(t *testing.T) {
	var p Poll
	p.Begin()
	p.NextRound()
	p.Ask(id(1))
	p.Ask(id(2))
	first := p.ID(7)
	if Handle(first) != 7 || !p.IsRound(first) || p.Complete() {
		t.Errorf("round %x of task %d: want the present one of 7, which waits for answers", first, Handle(first))
	}
	if p.Answered(id(3)) || !p.Answered(id(1)) || p.Answered(id(1)) || !p.Asked(id(1)) {
		t.Error("want one answer, of the node that was asked")
	}
	if !p.Answered(id(2)) || !p.Complete() {
		t.Error("somebody is waited for when all have answered")
	}
	p.NextRound()
	p.Ask(id(4))
	if p.IsRound(first) || !p.Asked(id(1)) || p.Complete() {
		t.Error("want another round of the same decision")
	}
	if p.Ignore(); !p.Complete() || p.Answered(id(4)) {
		t.Error("an answer counts that is not waited for")
	}
	if p.Begin(); p.Asked(id(4)) {
		t.Error("another decision knows whom the one before asked")
	}
}

// The poll goes on while somebody who has not answered could be better than the best answer.
func TestWhoIsWaitedFor(t *testing.T) {
	var p Poll
	p.NextRound()
	for k := range byte(3) {
		p.Ask(id(k))
	}
	p.Answered(id(0))
	p.Answers = append(p.Answers, balance.State{Node: id(0), ECT: 5}, balance.State{Node: id(9), ECT: 3})
	for winner, want := range map[byte]bool{0: false, 2: true} {
		got := p.AwaitsBetter(func(who grid.NodeID, best float64) bool {
			if best != 3 {
				t.Errorf("the best is %v: want 3", best)
			}
			return who == id(winner)
		})
		if got != want {
			t.Errorf("node %d could win: waits %v", winner, got)
		}
	}
	if p.AnswerOf(id(9)).ECT != 3 || p.AnswerOf(id(1)) != nil {
		t.Error("an answer is another node's")
	}
	if b := p.Release(); cap(b) == 0 || len(b) != 0 || p.Answers != nil || p.Release() != nil || !p.Complete() {
		t.Errorf("a buffer of %d: want that of the answers, once", len(b))
	}
}

// Avoided nodes are looked at when no other is left, blacklisted ones when none of these is; not while one on
// probation, or one that refused the task for now, may yet take it, nor in a decision that has polled others.
func TestCandidatesAreLookedForInSteps(t *testing.T) {
	reclaimed := func(x *Task) { x.Reclaims = 1 }
	polled := func(x *Task) { x.Ask(id(1)) }
	for name, c := range map[string]struct {
		change           func(*Task)
		local, blacklist bool
		nodes, probation []int // at each step
		want             string
		tries            bool
	}{
		"somebody is there": {nodes: []int{1}, blacklist: true, want: "heed strict;"},
		"nobody":            {nodes: []int{0}, want: "heed strict;"},
		"some are avoided":  {change: reclaimed, nodes: []int{0, 1}, want: "heed strict;heed;"},
		"demoted": {change: func(x *Task) { x.Demotions.Add(id(1), "a") }, nodes: []int{0, 1},
			want: "heed strict;heed;"},
		"one is on probation": {nodes: []int{0, 1}, probation: []int{1, 0}, want: "heed strict;heed;"},
		"one is on probation, for all": {nodes: []int{0, 0}, probation: []int{1, 1}, blacklist: true,
			want: "heed strict;heed;"},
		"all are blacklisted": {nodes: []int{0, 1}, blacklist: true, want: "heed strict;all;", tries: true},
		"all are avoided and blacklisted": {change: reclaimed, nodes: []int{0, 0, 1}, blacklist: true,
			want: "heed strict;heed;all;", tries: true},
		"others were polled": {change: polled, nodes: []int{0}, blacklist: true, want: "heed strict;"},
		"one refused it for now": {change: func(x *Task) { x.Exclude(id(1), grid.Refusal{Why: grid.WhyQueue}, grid.Never) },
			nodes: []int{0}, blacklist: true, want: "heed strict;"},
		"local": {local: true, nodes: []int{0}, blacklist: true, want: "all;"},
		"one was tried in this decision": {change: func(x *Task) { x.tryBlacklisted = true; x.Ask(id(1)) }, nodes: []int{1},
			want: "heed strict;", tries: true},
		"one was tried before": {change: func(x *Task) { x.tryBlacklisted = true }, nodes: []int{1}, want: "heed strict;"},
	} {
		var x Task
		if c.change != nil {
			c.change(&x)
		}
		got, step := "", 0
		x.inSteps(c.local, c.blacklist, func(heed, strict bool) (nodes, probation int) {
			switch {
			case heed && strict:
				got += "heed strict;"
			case heed:
				got += "heed;"
			default:
				got += "all;"
			}
			if step < len(c.probation) {
				probation = c.probation[step]
			}
			step++
			return c.nodes[step-1], probation
		})
		if got != c.want || x.TriesBlacklisted() != c.tries {
			t.Errorf("%s: %s, tries a blacklisted one %v: want %s", name, got, x.TriesBlacklisted(), c.want)
		}
	}
}

// Who failed a task or demoted it is avoided, unless nobody else is left; who was asked is not asked again.
func TestWhoIsExcluded(t *testing.T) {
	var x Task
	x.Fail(id(1), grid.Refusal{Why: grid.WhyFailed})
	x.Demotions.Add(id(2), "a")
	x.Ask(id(3))
	x.Exclude(id(4), grid.Refusal{Why: grid.WhyEngine}, grid.Never)
	for k, want := range map[byte][2]bool{1: {true, false}, 2: {true, false}, 3: {true, true}, 4: {true, true}, 5: {}} {
		if got := [2]bool{x.Excludes(id(k), true), x.Excludes(id(k), false)}; got != want {
			t.Errorf("node %d is excluded %v: want %v", k, got, want)
		}
	}
	if x.Bars(id(3), true) {
		t.Error("a node that was asked is barred for good")
	}
}

// Those that pulled in vain, cannot run the task or fail its class are named to its worker: each once, and so many.
func TestBarredNodesAreBounded(t *testing.T) {
	var x Task
	for range 2 {
		x.Vain.Add(id(1))
	}
	x.Vain.Add(id(2)) // once only
	x.Exclude(id(3), grid.Refusal{Why: grid.WhyEngine}, grid.Never)
	blacklist := func(n byte) iter.Seq2[grid.NodeID, grid.Refusal] {
		return func(yield func(grid.NodeID, grid.Refusal) bool) {
			for k := byte(3); k < 3+n && yield(id(k), grid.Refusal{}); k++ {
			}
		}
	}
	if got := x.Barred(blacklist(2), nil); !slices.Equal(got, []grid.NodeID{id(1), id(3), id(4)}) {
		t.Errorf("%v are barred: want 1, 3 and 4", got)
	}
	if got := x.Barred(blacklist(200), nil); len(got) != grid.MaxBarred {
		t.Errorf("%d are barred: want %d", len(got), grid.MaxBarred)
	}
}

// A node that refused a task is asked again later and later, one that can never run it not at all.
func TestHowLongARefusalCounts(t *testing.T) {
	for tries, want := range map[int]time.Duration{0: time.Second, 2: 4 * time.Second, 5: 30 * time.Second,
		99: 30 * time.Second} {
		if got := Until(7, tries, grid.WhyQueue).Sub(7); got != want {
			t.Errorf("after %d tries: %v, want %v", tries, got, want)
		}
	}
	if Until(7, 0, grid.WhyEngine) != grid.Never || Until(7, 0, grid.WhyAccess) == grid.Never {
		t.Error("want that only a node that may be upgraded is asked again")
	}
}

package balance

import (
	"testing"
	"time"

	"skep/grid"
)

const ms = grid.Time(time.Millisecond)

// charged is the completion time that a policy sees for the only answer.
func charged(p Policy, now grid.Time, s State) float64 {
	return s.ECT + p.(*mct).charge(now, &s)
}

func placed(k OutcomeKind, at grid.Time) Outcome {
	return Outcome{Kind: k, At: at, Node: nodeID(0), Class: "class1"}
}

// A placement counts until an answer that was said a round trip after it.
func TestDebit(t *testing.T) {
	p := mustMake(t, "mct", Config{Debit: true}, 1)
	p.Note(Outcome{Kind: Rates, Node: nodeID(0), Slots: 2, Rates: []grid.Rate{{Class: "class1", Mu: 4}}})
	p.Note(placed(Placed, 100*ms))
	p.Note(placed(Placed, 100*ms))
	p.Note(placed(Placed, 110*ms))
	for _, c := range []struct {
		heard grid.Time
		want  float64 // placements of 1/(4·2) s
	}{{0, 3}, {103 * ms, 3}, {104*ms + 1, 3}, {105 * ms, 1}, {114 * ms, 1}, {115 * ms, 0}} {
		s := State{Node: nodeID(0), ECT: 1, Heard: c.heard, RTT: 5 * time.Millisecond}
		if got := charged(p, 120*ms, s); !near(got, 1+c.want/8, 1e-12) {
			t.Errorf("said at %d ms: %g s, want %g placements more than 1", c.heard/ms, got, c.want)
		}
	}
	s := State{Node: nodeID(0), ECT: 1, Heard: 110 * ms} // the decider: said at once
	if got := charged(p, 120*ms, s); got != 1 {
		t.Errorf("without a round trip %g s, want 1", got)
	}
	s.Heard = 0
	p.Note(placed(Refused, 130*ms))
	if got := charged(p, 130*ms, State{Node: nodeID(0), Heard: 125 * ms}); !near(got, 1.0/8, 1e-12) {
		t.Errorf("after a refusal older news is charged %g, want 1/8", got)
	}
	p.Note(placed(Finished, 140*ms))
	if got := charged(p, 140*ms, s); !near(got, 1+2.0/8, 1e-12) {
		t.Errorf("after one ended %g s, want 2 placements", got)
	}
	if got := charged(p, 100*ms+grid.Time(debitLife)-1, s); got != 1+2.0/8 {
		t.Errorf("at the end of their life %g", got)
	}
	if got := charged(p, 131*ms+grid.Time(debitLife), s); got != 1 {
		t.Errorf("past their life %g", got)
	}
	p.Note(placed(Placed, 500*ms))
	p.Note(Outcome{Kind: Gone, Node: nodeID(0)})
	if got := charged(p, 500*ms, s); got != 1 {
		t.Errorf("gone and still charged: %g", got)
	}
}

func TestNoDebitByDefault(t *testing.T) {
	p := mustMake(t, "mct", Config{}, 1)
	p.Note(placed(Placed, 100*ms))
	if got := charged(p, 100*ms, State{Node: nodeID(0), ECT: 1}); got != 1 {
		t.Errorf("charged: %g", got)
	}
}

// What is kept is bounded, and what is merged charges rather too long than too short.
func TestDebitsAreBounded(t *testing.T) {
	var d debits
	const n = 10 * maxDebits
	for k := range n {
		d.add(3, grid.Time(k)*ms, 1)
		if len(d.account(3).q) > maxDebits {
			t.Fatalf("%d kept, want at most %d", len(d.account(3).q), maxDebits)
		}
	}
	now := grid.Time(n) * ms
	if got := d.since(3, -1, now); got != n {
		t.Errorf("%g in all, want %d", got, n)
	}
	for k := range n {
		if got, want := d.since(3, grid.Time(k)*ms, now), float64(n-1-k); got < want {
			t.Fatalf("since %d: %g, want at least %g", k, got, want)
		} else if k > n-maxDebits && got != want {
			t.Fatalf("since %d: %g, want %g", k, got, want)
		}
	}
	d.add(3, now.Add(debitLife+time.Second), 1)
	if len(d.account(3).q) != 1 {
		t.Errorf("%d kept past their life", len(d.account(3).q))
	}
}

// Nodes that no one gives rates for are forgotten when nothing counts for them any more.
func TestUnratedNodesAreForgotten(t *testing.T) {
	p := mustMake(t, "mct", Config{Debit: true}, 1)
	for k := range 1000 {
		p.Note(Outcome{Kind: Placed, At: grid.Time(k) * grid.Time(time.Second), Node: nodeID(k), Class: "x"})
	}
	if got := len(p.(*mct).rates.ids); got > 70 {
		t.Errorf("%d nodes kept", got)
	}
}

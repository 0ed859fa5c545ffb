package balance

import (
	"slices"
	"testing"
)

// With rates that have never moved the policy is lpas_dec.
func TestRobustIsLPASDecWithRatesThatStay(t *testing.T) {
	w := system4A()
	p := mustMake(t, "lpas_dec_robust", Config{}, 1)
	w.tell(p)
	for class, want := range [][]int{{3, 5}, {1, 3, 6, 7}, {1, 4}, {2, 6}} {
		p.Note(Outcome{Kind: Finished, Node: nodeID(0), Class: className(class)})
		if got := polled(p, w.view(0, class), class); !slices.Equal(got, want) {
			t.Errorf("class %d asks %v, want %v", class+1, got, want)
		}
	}
}

// System 2.A keeps class 1 off machine 1: y_1·9 is just below y_2·2. A first measurement there says 6, which leaves
// it in doubt by all of it, so that class 1 may use the machine until 25 moves and ends have shown that 6 is right.
func TestRobustKeepsADoubtfulMachine(t *testing.T) {
	w := system2A()
	p, plain := mustMake(t, "lpas_dec_robust", Config{}, 1), mustMake(t, "lpas_dec", Config{}, 1)
	w.tell(p)
	w.tell(plain)
	asks := func(p Policy, want ...int) {
		t.Helper()
		if got := polled(p, w.view(1, 0), 0); !slices.Equal(got, want) {
			t.Errorf("class 1 asks %v, want %v", got, want)
		}
	}
	asks(p, 2)
	w.mu[0][0] = 6
	p.Note(w.column(0))
	plain.Note(w.column(0))
	asks(plain, 2)
	asks(p, 1, 2)
	// y_1·6·(1 + 1/√n) against y_2·2: y_1 : y_2 = 2·1 : 2·5, of the machine that both use: 12·(1 + 1/√n) ≥ 20 up to n
	// = 2.
	p.Note(Outcome{Kind: Finished, Node: nodeID(0), Class: className(0)})
	w.mu[0][1] = 5.0001
	p.Note(w.column(1)) // the LP is solved when a rate moves
	asks(p, 1, 2)
	for range 3 {
		p.Note(Outcome{Kind: Finished, Node: nodeID(0), Class: className(0)})
	}
	w.mu[0][1] = 5
	p.Note(w.column(1))
	asks(p, 2)
}

// A rate that is in doubt is not after 25 moves and ends, and the LP is solved for that. What is known of a node does
// not pass to the one that takes its place.
func TestRobustSettlesAndForgets(t *testing.T) {
	w := system2A()
	p := mustMake(t, "lpas_dec_robust", Config{}, 1).(*robust)
	w.tell(p)
	w.mu[0][0] = 8.9
	p.Note(w.column(0))
	if got := polled(p, w.view(1, 0), 0); !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("class 1 asks %v, want both", got)
	}
	before := p.Solves()
	for range 24 {
		p.Note(Outcome{Kind: Finished, Node: nodeID(0), Class: className(0)})
	}
	if got := polled(p, w.view(1, 0), 0); !slices.Equal(got, []int{2}) || p.Solves() != before+1 {
		t.Errorf("class 1 asks %v after %d solves, want machine 2 after one more than %d", got, p.Solves(), before)
	}
	w.mu[0][1] = 4.9
	p.Note(w.column(1))
	i, _ := p.rates.classOf(className(0))
	at := w.column(1)
	j, _ := p.rates.lookup(&at.Node)
	if got := p.doubt(i, j); got != 1 {
		t.Fatalf("doubt %g, want 1", got)
	}
	p.Note(Outcome{Kind: Gone, Node: nodeID(1)})
	o := w.column(1)
	o.Node = nodeID(2)
	p.Note(o)
	if k, _ := p.rates.lookup(&o.Node); k != j || p.doubt(i, k) != 0 {
		t.Errorf("at %d with a doubt of %g: want the place of the last, %d, and none", k, p.doubt(i, k), j)
	}
}

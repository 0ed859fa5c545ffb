package order

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// However many bids, users, classes and nodes come, there are so many lines at most, and all work goes once.
func TestLinesAreBounded(t *testing.T) {
	for _, rule := range Names() {
		for _, users := range []int{1, 40} {
			p := newPlace(rule)
			const works = 6000
			for i := range works {
				id := grid.NodeID{byte(i % 7), 1}
				if i%2 == 0 {
					id = grid.NodeID{byte(i), byte(i >> 8), 2}
				}
				p.add(fmt.Sprint(i), Key{grid.Bid(1 + i*7919%20_000), id, fmt.Sprint(i % users), fmt.Sprint("c", i)})
			}
			if most := maxLines + otherNodes*maxBids; int(p.lines) > most || len(p.Open()) != int(p.lines) {
				t.Errorf("%s: %d lines, %d open, want %d at most", rule, p.lines, len(p.Open()), most)
			}
			for _, a := range p.accounts.list {
				bids := 0
				for q := a.pairs(); q != nil; q = q.next {
					bids++
				}
				if bids > maxBids || a.lines() > maxOfNode+maxBids || len(a.users()) > maxUsers+1 {
					t.Errorf("%s: a node has %d lines of %d bids and %d users", rule, a.lines(), bids, len(a.users()))
				}
			}
			names := p.run(works+1, 1)
			slices.Sort(names)
			if names = slices.Compact(names); len(names) != works || len(p.Open()) > 0 {
				t.Errorf("%s: %d of %d went, %d lines are open", rule, len(names), works, len(p.Open()))
			}
		}
	}
}

// What many bids of one node have waited for long does not become urgent as a whole: maxBids of it in each ageing time.
func TestFloodOfBids(t *testing.T) {
	p := newPlace("fair")
	for i := range 1000 {
		p.add("flood", Key{grid.Bid(1 + i*7), node(1), "", ""})
	}
	for range 2000 {
		p.add("high", Key{10_000, node(2), "", ""})
	}
	n := 0
	for _, name := range p.run(1000, 4*36) { // ten ageing times
		if name == "flood" {
			n++
		}
	}
	if most := 10*maxBids + maxBids; n > most || n < 10 {
		t.Errorf("%d starts of the lower bids in ten ageing times, want %d at most, and some", n, most)
	}
}

// The lowest bid beside floods of many bids of many nodes, that do not end, starts within the ageing time and one start
// of each other line, of which there are so many at most.
func TestLowestBidBesideFloods(t *testing.T) {
	p := newPlace("fair")
	p.add("low", Key{1, node(1), "", ""})
	r := grid.NewRand(1, 7)
	for i := range 3000 {
		for len(p.Open()) < 100 || r.IntN(3) == 0 {
			p.add("other", Key{grid.Bid(2 + r.IntN(9999)), grid.NodeID{2, byte(r.IntN(100))}, fmt.Sprint(r.IntN(30)), ""})
		}
		if p.run(1, 60)[0] == "low" {
			bound := Defaults().Ageing + (maxLines+otherNodes*maxBids)*time.Minute
			t.Logf("start %d: after %v, the bound is %v", i, p.now.Sub(0), bound)
			if p.now.Sub(0) > bound {
				t.Errorf("it starts after %v, want %v at most", p.now.Sub(0), bound)
			}
			return
		}
	}
	t.Error("the lowest bid does not start")
}

// Bids of a band are equal: whoever bids a little more than others does not go first always.
func TestBands(t *testing.T) {
	for b, want := range map[grid.Bid]grid.Bid{1: 1, 1000: 1000, 1413: 1000, 1415: 1415, 1999: 1415, 2000: 2000,
		2800: 2000, 4000: 4000, 5000: 4000, 6000: 5657, 7999: 5657, 8000: 8000, 10_000: 8000, 999: 708} {
		if got := Band(b); got != want {
			t.Errorf("band of %v: %v, want %v", b, got, want)
		}
	}
	for b := grid.Bid(1); b < 20_000; b++ {
		if Band(b) > b || Band(Band(b)) != Band(b) || Band(b) < Band(max(b-1, 1)) {
			t.Fatalf("band of %v: %v, that of it: %v, of one less: %v", b, Band(b), Band(Band(b)), Band(b-1))
		}
	}
}

// Who places many tasks together asks for the bid that counts.
func TestCounts(t *testing.T) {
	for rule, want := range map[string][4]grid.Bid{"fifo": {}, "sjf": {}, "bid": {1100, 3000, 10_000, 1100},
		"prio_fifo": {3, 3, 3, 3}, "fair": {1000, 2829, 8000, 10_000}} {
		c := Defaults()
		c.Rule = rule
		got := [...]grid.Bid{c.Counts(1100, 0), c.Counts(3000, 0), c.Counts(99_000, 0), c.Counts(1100, c.Ageing)}
		if got != want {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
}

// With its second user, what a node has used until then, and what runs, counts for the first.
func TestSecondUser(t *testing.T) {
	p := newPlace("fair")
	p.add("a", Key{1000, node(1), "one", ""})
	p.add("a", Key{1000, node(1), "one", ""})
	_, l := p.start(100)
	if len(l.pair.of.users()) > 0 {
		t.Error("one user has a use of his own")
	}
	p.add("b", Key{1000, node(1), "two", ""})
	if name, _ := p.start(100); name != "b" {
		t.Errorf("%s starts, want b: the other user has a slot", name)
	}
	p.now = p.now.Add(100 * time.Second)
	p.End(p.now, l, 1, 100, 0)
	if h := l.pair.of.here; h.works != 1 || len(h.users) != 2 || h.users[0].works != 0 || h.users[1].works != 1 {
		t.Errorf("%d run, and of the users %+v", h.works, h.users)
	}
}

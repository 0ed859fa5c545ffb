package market

import (
	"math"
	"slices"
	"testing"
)

var forever = math.Inf(1)

// kind is tasks of one second on every seller.
func kind(tasks int, bid float64, sellers int) Kind {
	return Kind{Tasks: tasks, Bid: bid, Alone: slices.Repeat([]float64{1}, sellers), Full: forever, Zero: forever}
}

// deals are the sellers that each kind gets, in order.
func deals(t *testing.T, name string, kinds []Kind, sellers []Seller) (got [][]int) {
	t.Helper()
	p, r := mustParse(t, name), Round{Until: 0.25, Most: 100}
	for j := range sellers {
		r.Turn = append(r.Turn, j)
	}
	got = make([][]int, len(kinds))
	for _, d := range r.Match(&p, kinds, sellers, nil) {
		got[d.Kind] = append(got[d.Kind], d.Seller)
	}
	return got
}

func equal(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) }

// The highest bid takes the fastest free node; what finds none free waits [1, section 6.5.1].
func TestRoundHighestBidTakesTheFastest(t *testing.T) {
	kinds := []Kind{kind(1, 1, 3), kind(2, 4, 3)}
	for i := range kinds {
		kinds[i].Alone = []float64{4, 1, 2}
	}
	sellers := []Seller{{Slots: 1, Idle: 1}, {Slots: 1, Idle: 1}, {Slots: 1, Ready: 9}}
	if got := deals(t, "cda", kinds, sellers); !equal(got, [][]int{nil, {1, 0}}) {
		t.Errorf("deals %v: want the two of the high bid at 1, the fastest, and 0; 2 is busy for 9 s", got)
	}
}

// A node whose slot is free by the end of the round is given its next task now: one task ahead.
func TestRoundSendsOneTaskAhead(t *testing.T) {
	if got := deals(t, "cda", []Kind{kind(3, 1, 1)}, []Seller{{Slots: 1, Ready: 0.2}}); !equal(got, [][]int{{0}}) {
		t.Errorf("deals %v: want one task for the slot that is free in 0.2 s", got)
	}
	far := []Seller{{Slots: 1, Ready: 2.2, Lead: 2}, {Slots: 1, Ready: 2.2, Lead: 1}}
	if got := deals(t, "cda", []Kind{kind(3, 1, 2)}, far); !equal(got, [][]int{{0}}) {
		t.Errorf("deals %v: want one, for the slot that is free in 2.2 s where a task is on its way for 2", got)
	}
}

// Below the reserve price nothing goes, but what has waited bids more; without reserve prices they are not heeded.
func TestRoundReservePrice(t *testing.T) {
	sellers := func() []Seller { return []Seller{{Slots: 4, Idle: 4, Price: 2}} }
	if got := deals(t, "cda_res", []Kind{kind(1, 1.9, 1), kind(1, 2, 1)}, sellers()); !equal(got, [][]int{nil, {0}}) {
		t.Errorf("deals %v: want none for the bid of 1.9, one for that of 2", got)
	}
	aged := kind(2, 1, 1)
	aged.Aged = 3
	if got := deals(t, "cda_res", []Kind{aged}, sellers()); !equal(got, [][]int{{0}}) {
		t.Errorf("deals %v: want one for the first of the kind, which bids 3 for having waited", got)
	}
	if got := deals(t, "cda", []Kind{kind(1, 1, 1)}, sellers()); !equal(got, [][]int{{0}}) {
		t.Errorf("deals %v: cda heeds no price", got)
	}
}

// A higher bid, under hbp_t one so many times higher, takes a busy node, an idle one first, then that of the lowest
// bid; which bid a node runs then nobody knows, so it is outbid once in a round [1, section 6.5.5].
func TestRoundOutbids(t *testing.T) {
	for name, want := range map[string][][]int{"cda": {{2}}, "hbp": {{2, 1, 0}}, "hbp_t:3": {{2, 1}}} {
		sellers := []Seller{{Slots: 1, Ready: 50, Outbid: 3}, {Slots: 1, Ready: 50, Outbid: 2}, {Slots: 1, Idle: 1}}
		if got := deals(t, name, []Kind{kind(5, 6, 3)}, sellers); !equal(got, want) {
			t.Errorf("%s: deals %v, want %v", name, got, want)
		}
	}
	never := []Seller{{Slots: 1, Ready: 50}} // it suspends nothing
	if got := deals(t, "hbp", []Kind{kind(1, 6, 1)}, never); !equal(got, [][]int{nil}) {
		t.Errorf("deals %v with a node that suspends nothing, want none", got)
	}
}

// Proportional shares: a task goes where its own share is fastest, and never waits [1, section 6.5.4].
func TestRoundShares(t *testing.T) {
	sellers := []Seller{{Slots: 1, Ready: 9, Bids: 3}, {Slots: 1, Ready: 9, Bids: 1}}
	if got := deals(t, "psp", []Kind{kind(4, 1, 2)}, sellers); !equal(got, [][]int{{1, 1, 0, 1}}) &&
		!equal(got, [][]int{{1, 1, 1, 0}}) {
		t.Errorf("deals %v: want shares of 1/2, 1/3, then 1/4 at either", got)
	}
}

// Round robin goes on after the node of the last match, whatever the speeds [1, appendix A.2.4].
func TestRoundRing(t *testing.T) {
	k := kind(4, 1, 3)
	k.Alone = []float64{9, 1, 5}
	sellers := []Seller{{Slots: 2, Idle: 2}, {Slots: 1, Idle: 1}, {Slots: 1, Idle: 1}}
	if got := deals(t, "rr", []Kind{k}, sellers); !equal(got, [][]int{{0, 1, 2, 0}}) {
		t.Errorf("deals %v, want in turn", got)
	}
}

// What cannot be done by the time from which it is worth nothing gets no node, and under cda_tdb the task that would
// deliver the most now goes first [1, section 6.5.3].
func TestRoundDeadlinesAndValue(t *testing.T) {
	late := kind(1, 9, 1)
	late.Full, late.Zero = 0.5, 0.9
	if got := deals(t, "cda", []Kind{late, kind(1, 1, 1)}, []Seller{{Slots: 1, Idle: 1}}); !equal(got, [][]int{nil, {0}}) {
		t.Errorf("deals %v: the first takes 1 s and has 0.9", got)
	}
	falling := kind(1, 9, 1)
	falling.Full, falling.Zero = 0.1, 1.1 // a tenth is left: 0.9
	if got := deals(t, "cda_tdb", []Kind{falling, kind(1, 2, 1)}, []Seller{{Slots: 1, Idle: 1}}); !equal(got,
		[][]int{nil, {0}}) {
		t.Errorf("deals %v: a tenth of 9 is worth less than 2", got)
	}
}

// Nothing is matched between the ticks of a periodic auction, and a tick is for what came before it.
func TestTicksOfAnOwner(t *testing.T) {
	p, ticks := mustParse(t, "pda:2"), Ticks{}
	for _, c := range []struct {
		now, age float64
		waits    bool
	}{{2.5, 0.2, true}, {3.9, 1.6, true}, {4.1, 1.8, false}, {4.2, 3, true}, {6, 5, false}} {
		k := []Kind{{Age: c.age}}
		next, waits := ticks.Wait(&p, c.now, k)
		if waits != c.waits || math.Abs(c.now+next-2*(math.Floor(c.now/2)+1)) > 1e-9 {
			t.Errorf("at %g with a task that came %g before: waits %v, for %g", c.now, c.age, waits, next)
		}
	}
}

// Of the nodes where a task meets its deadline and its part of the budget the one is taken where its price for as long
// as it runs is least, of equals the fastest; where it meets them nowhere, the one where it is done soonest.
func TestRoundCheapest(t *testing.T) {
	for name, c := range map[string]struct {
		full, spend float64
		prices      [3]float64
		want        int
	}{
		"the cheapest":                         {forever, 0, [3]float64{0.5, 0.3, 0.2}, 2},  // 2, 2.4 and 1.8
		"cheaper by the second, and slower":    {forever, 0, [3]float64{0.4, 0.25, 0.3}, 0}, // 1.6, 2 and 2.7
		"nothing is asked: the fewest seconds": {forever, 0, [3]float64{}, 0},
		"the deadline":                         {8.5, 0, [3]float64{0.5, 0.3, 0.2}, 0},
		"the budget":                           {forever, 8.5, [3]float64{0.5, 0.2, 0.1}, 1},
		"both":                                 {8.5, 4.5, [3]float64{0.9, 0.2, 0.1}, 0},
		"neither":                              {3, 1, [3]float64{0.9, 0.2, 0.1}, 0},
		"its bid":                              {forever, 0, [3]float64{1.1, 0.3, 0.9}, 1},
	} {
		k := kind(1, 1, 3)
		k.Alone, k.Full, k.Spend = []float64{4, 8, 9}, c.full, c.spend
		sellers := make([]Seller, 3)
		for j := range sellers {
			sellers[j] = Seller{Slots: 1, Idle: 1, Price: c.prices[j]}
		}
		if got := deals(t, "cheapest", []Kind{k}, sellers); !equal(got, [][]int{{c.want}}) {
			t.Errorf("%s: deals %v, want %d", name, got, c.want)
		}
	}
	busy := []Seller{{Slots: 1, Ready: 50}, {Slots: 1, Idle: 1, Price: 1}}
	if got := deals(t, "cheapest", []Kind{kind(1, 2, 2)}, busy); !equal(got, [][]int{{1}}) {
		t.Errorf("deals %v: want the free node, though the busy one is cheaper", got)
	}
}

// How long a task runs is not known of some nodes, as of a class that they have not run: it may cost any amount there.
func TestRoundCheapestOfUnknownTimes(t *testing.T) {
	for name, c := range map[string]struct {
		alone, prices    [3]float64
		full, spend, lag float64
		want             int
	}{
		"of none: the lowest price":          {[3]float64{}, [3]float64{0.9, 0.1, 0.5}, forever, 0, 0, 1},
		"a known one, though it is dearer":   {[3]float64{0, 0, 9}, [3]float64{0.1, 0.2, 0.9}, forever, 0, 0, 2},
		"none is asked, a known one":         {[3]float64{0, 3, 2}, [3]float64{}, forever, 0, 0, 2},
		"before a known one that is late":    {[3]float64{9, 0, 0}, [3]float64{0.1, 0.9, 0.8}, 5, 0, 0, 2},
		"before one that the budget forbids": {[3]float64{9, 0, 0}, [3]float64{0.1, 0.9, 0.8}, forever, 5, 0, 2},
		"late all, it after a known one":     {[3]float64{9, 0, 0}, [3]float64{0.1, 0.9, 0.8}, 5, 0, 6, 0},
	} {
		k := kind(1, 1, 3)
		k.Alone, k.Full, k.Spend, k.Fetch = c.alone[:], c.full, c.spend, []float64{c.lag, c.lag, c.lag}
		sellers := make([]Seller, 3)
		for j := range sellers {
			sellers[j] = Seller{Slots: 1, Idle: 1, Price: c.prices[j]}
		}
		if got := deals(t, "cheapest", []Kind{k}, sellers); !equal(got, [][]int{{c.want}}) {
			t.Errorf("%s: deals %v, want %d", name, got, c.want)
		}
	}
}

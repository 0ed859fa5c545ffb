package order

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// place is lines with works that a test names.
type place struct {
	*Lines[[]work]
	now grid.Time
}

type work struct {
	name string
	came grid.Time
}

func newPlace(rule string) *place {
	cfg := Defaults()
	cfg.Rule = rule
	return &place{Lines: New[[]work](&cfg, func(class string) float64 { return float64(len(class)) })}
}

func node(n byte) grid.NodeID { return grid.NodeID{n} }

func (p *place) add(name string, k Key) {
	l := p.Enter(k)
	l.Of = append(l.Of, work{name, p.now})
	p.SetFirst(l, l.Of[0].came, true)
}

// start starts the next work, which is expected to take so many seconds of one core.
func (p *place) start(expected float64) (string, *Line[[]work]) {
	l := p.Best(p.now)
	if l == nil {
		return "", nil
	}
	if sorted := p.Sorted(p.now); sorted[0] != l {
		panic("the best line is not the first of the sorted ones")
	}
	w := l.Of[0]
	l.Of = l.Of[1:]
	if len(l.Of) > 0 {
		p.SetFirst(l, l.Of[0].came, true)
	} else {
		p.SetFirst(l, 0, false)
	}
	p.Start(p.now, l, 1, expected)
	return w.name, l
}

// run runs one work after the other on one core, each for so many seconds.
func (p *place) run(most int, each float64) (names []string) {
	for range most {
		name, l := p.start(each)
		if l == nil {
			return names
		}
		started := p.now
		p.now = p.now.Add(grid.Seconds(each))
		p.End(p.now, l, 1, each, started)
		p.Release(l)
		names = append(names, name)
	}
	return names
}

func TestRules(t *testing.T) {
	all := []struct {
		name string
		Key
	}{
		{"a", Key{1000, node(1), "x", "long class"}},
		{"b", Key{4000, node(2), "x", "short"}},
		{"c", Key{1500, node(1), "x", "long class"}},
		{"d", Key{500, node(1), "x", "short"}},
		{"e", Key{4000, node(1), "x", "s"}},
		{"f", Key{99_000, node(3), "x", "long class"}}, // above the highest bid
		{"g", Key{10_000, node(3), "x", "long class"}},
	}
	for rule, want := range map[string]string{
		"fifo": "abcdefg", "bid": "fgbecad", "sjf": "ebdacfg", "prio_fifo": "bcefgad", "fair": "fgbecad",
	} {
		p := newPlace(rule)
		for _, w := range all {
			p.add(w.name, w.Key)
		}
		got := ""
		for _, name := range p.run(100, 1) {
			got += name
		}
		if got != want {
			t.Errorf("%s: work goes in the order %s, want %s", rule, got, want)
		}
	}
}

// Of equal bids it is the turn of the node that has used the least, and then of its user who has: names of users gain
// nothing. What one has used is forgotten by half in each half-life.
func TestEqualBidsGoByUse(t *testing.T) {
	p := newPlace("fair")
	for i := range 40 {
		p.add("a", Key{1000, node(1), string(rune('p' + i%8)), ""}) // eight names
	}
	for range 12 {
		p.add("b", Key{1000, node(2), "one", ""})
		p.add("c", Key{1000, node(2), "two", ""})
	}
	got := map[string]int{}
	for _, name := range p.run(40, 10) {
		got[name]++
	}
	if got["a"] != 20 || got["b"] != 10 || got["c"] != 10 {
		t.Errorf("of 40 starts %v, want 20 of the node with eight users, and 10 of each of the other's two", got)
	}
	before := p.Used(p.now, node(1))
	p.now = p.now.Add(Defaults().HalfLife)
	if after := p.Used(p.now, node(1)); math.Abs(after-before/2) > 1e-9*before {
		t.Errorf("%g core-seconds used, %g after the half-life", before, after)
	}
}

// What a node has used counts at once when work of it comes again whose lines have gone.
func TestUseCountsWhenALineComesBack(t *testing.T) {
	p := newPlace("fair")
	p.add("a", Key{1000, node(1), "", ""})
	p.run(1, 1000)
	for range 2 {
		p.add("b", Key{1000, node(2), "", ""})
	}
	p.add("low", Key{1, node(3), "", ""})
	p.run(1, 10)
	p.DropIdle()
	p.add("a", Key{1000, node(1), "", ""})
	if name, _ := p.start(1); name != "b" {
		t.Errorf("%s starts first, want b, whose node has used 10 s against 1000", name)
	}
}

// Slots that become free at the same time go to several nodes: what runs counts with what it is expected to use.
func TestSlotsAtTheSameTime(t *testing.T) {
	p := newPlace("fair")
	for n := byte(1); n <= 3; n++ {
		for range 10 {
			p.add(string(rune('a'+n-1)), Key{1000, node(n), "", ""})
		}
	}
	got := map[string]int{}
	for range 9 {
		name, _ := p.start(100)
		got[name]++
	}
	if got["a"] != 3 || got["b"] != 3 || got["c"] != 3 {
		t.Errorf("of nine slots %v, want three each", got)
	}
	if u := p.Used(p.now.Add(50*time.Second), node(1)); math.Abs(u-300) > 3 {
		t.Errorf("%g core-seconds count after half of the time, want about 300: used and expected", u)
	}
	if u := p.Used(p.now.Add(200*time.Second), node(1)); math.Abs(u-600) > 30 {
		t.Errorf("%g core-seconds count after twice the time, want about 600", u)
	}
}

// A bid of 1 beside endless ones of 10, of fresh nodes that have used nothing: it starts within the ageing time and a
// start of each other node that waits then, as the package says. So does each work of a node that uses much.
func TestLowestBidStarts(t *testing.T) {
	p := newPlace("fair")
	p.add("low", Key{1, node(1), "", ""})
	for range 1000 {
		p.add("heavy", Key{10_000, node(2), "", ""})
	}
	const others = 5 // that wait at a time
	last, low, gap := grid.Time(0), grid.Time(-1), time.Duration(0)
	for i := range 2000 {
		for len(p.Open()) < others+2 {
			p.add("fresh", Key{10_000, grid.NodeID{9, byte(i), byte(i >> 8), byte(len(p.Open()))}, "", ""})
		}
		started := p.now
		switch name := p.run(1, 60)[0]; name {
		case "low":
			low = started
		case "heavy":
			gap, last = max(gap, started.Sub(last)), started
		}
		if low >= 0 && len(p.Open()) == 0 {
			break
		}
	}
	bound := Defaults().Ageing + (others+2)*time.Minute
	if low < 0 || low.Sub(0) > bound {
		t.Errorf("the low bid starts at %v, want within %v", low, bound)
	}
	if gap > bound {
		t.Errorf("a node that used much waits %v, want %v at most", gap, bound)
	}
}

// A flood that has waited for long does not become urgent as a whole: one of it starts in each ageing time.
func TestOldFlood(t *testing.T) {
	p := newPlace("fair")
	for range 500 {
		p.add("flood", Key{1000, node(1), "", ""})
	}
	for range 500 {
		p.add("high", Key{8000, node(2), "", ""})
	}
	names := p.run(400, 120) // 13 h 20 min
	n := 0
	for _, name := range names {
		if name == "flood" {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d of 400 starts are of the lower bid, want one in each 3 h 7 min, in which 1 ages to 8", n)
	}
}

// Walk foresees the starts, and changes nothing.
func TestWalk(t *testing.T) {
	for seed := range uint64(50) {
		r := grid.NewRand(seed, 1)
		p := newPlace("fair")
		for i := range 60 {
			p.add(string(rune('A'+i)), Key{grid.Bid(1000 * (1 + r.IntN(2))), node(byte(r.IntN(3))),
				string(rune('p' + r.IntN(2))), ""})
		}
		taken := map[*Line[[]work]]int{}
		var foreseen []string
		p.Walk(p.now, func(l *Line[[]work]) (float64, bool, bool) {
			if taken[l] == len(l.Of) {
				return 0, false, false
			}
			taken[l]++
			foreseen = append(foreseen, l.Of[taken[l]-1].name)
			return 5, true, len(foreseen) == 30
		})
		var got []string
		for range 30 {
			name, _ := p.start(5)
			got = append(got, name)
		}
		if !slices.Equal(got, foreseen) {
			t.Fatalf("foreseen %v, started %v; seed %d", foreseen, got, seed)
		}
	}
}

// Ahead says how much work goes before what comes: checked by having it done.
func TestAhead(t *testing.T) {
	worst := 0.0
	for seed := range uint64(100) {
		r := grid.NewRand(seed, 2)
		p := newPlace([]string{"fair", "bid", "prio_fifo", "fifo"}[r.IntN(4)])
		for range 20 + r.IntN(40) {
			p.add("other", Key{grid.Bid(1000 * (1 + r.IntN(3))), node(byte(r.IntN(3))), "", ""})
		}
		p.run(10, 5)
		k := Key{grid.Bid(1000 * (1 + r.IntN(3))), node(byte(r.IntN(4))), "", ""}
		ahead := 0.0
		p.Ahead(p.now, k, func(l *Line[[]work]) (int, float64) { return len(l.Of), 5 * float64(len(l.Of)) },
			func(l *Line[[]work], share float64) { ahead += share * float64(len(l.Of)) })
		p.add("mine", k)
		got := slices.Index(p.run(100, 5), "mine")
		if d := math.Abs(float64(got) - ahead); d > 1 {
			t.Errorf("%s, bid %v: %g are said to be ahead, and were %d; seed %d", p.rule.Name, k.Bid, ahead, got, seed)
		} else {
			worst = max(worst, d)
		}
	}
	t.Logf("off by %g at most", worst)
}

// Lines and accounts of nodes that have gone are forgotten.
func TestIsBounded(t *testing.T) {
	p := newPlace("fair")
	for i := range 20_000 {
		p.add("x", Key{grid.Bid(1 + i%7), grid.NodeID{byte(i), byte(i >> 8)}, string(rune(i)), ""})
		p.run(1, 1)
	}
	p.now = p.now.Add(100 * time.Hour)
	for i := range 2000 {
		p.add("x", Key{1000, grid.NodeID{9, byte(i), byte(i >> 8)}, "", ""})
		p.run(1, 0.001)
	}
	if p.lines > 2*keepLines+2 || len(p.accounts.list) > 4*minSweep {
		t.Errorf("%d lines and %d accounts are kept, want few", p.lines, len(p.accounts.list))
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{Rule: "lifo"}, {Rule: "fair"}, {Rule: "bid", MaxBid: -1},
		{Rule: "fair", MaxBid: 1, Ageing: time.Hour}, {Preempt: 5}, {Rule: "sjf", Preempt: 5},
		{Rule: "bid", Preempt: 0.5}, {Rule: "bid", Preempt: math.NaN()}} {
		if c.Check() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, name := range append(Names(), "") {
		c := Defaults()
		if c.Rule = name; c.Check() != nil {
			t.Errorf("%s: %v", name, c.Check())
		}
	}
}

func TestPreempt(t *testing.T) {
	for s, want := range map[string]float64{"never": 0, "suspend": 5, "suspend:1": 1, "suspend:2.5": 2.5} {
		if f, moves, err := parsePreempt(s); f != want || moves || err != nil {
			t.Errorf("%s: %v, moves %v, %v", s, f, moves, err)
		}
		s = strings.Replace(s, "suspend", "migrate", 1)
		if f, moves, err := parsePreempt(s); f != want || moves != (f > 0) || err != nil {
			t.Errorf("%s: %v, moves %v, %v", s, f, moves, err)
		}
	}
	for _, s := range []string{"", "always", "suspend:", "suspend:0.9", "suspend:NaN", "suspend:1e9", "2", "migrate:",
		"migrate:0"} {
		if f, _, err := parsePreempt(s); err == nil {
			t.Errorf("%q: %v", s, f)
		}
	}
}

// Under fifo nobody can add lines.
func TestFifoIsOneLine(t *testing.T) {
	cfg := Defaults()
	cfg.Rule = "fifo"
	p := &place{Lines: New[[]work](&cfg, func(string) float64 { return 1 })}
	for i := range 10_000 {
		user, class := string(rune('a'+i%26)), string(rune('a'+i%7))
		p.add("x", Key{grid.Bid(1 + i), grid.NodeID{byte(i), byte(i >> 8)}, user, class})
	}
	if p.lines != 1 || len(p.levels) != 1 || len(p.levels[0].pairs) != 1 || len(p.accounts.list) > 0 {
		t.Errorf("%d lines and %d levels, want 1", p.lines, len(p.levels))
	}
}

// What still fetches its inputs is not overdue, however late it is.
func TestNothingOpenIsNotOverdue(t *testing.T) {
	p := newPlace("fair")
	k := Key{1000, node(1), "x", ""}
	for range 500 {
		p.Enter(k)
	}
	ahead := 0.0
	p.Ahead(grid.Time(5*time.Hour), Key{1000, node(2), "x", ""},
		func(*Line[[]work]) (int, float64) { return 500, 500 }, func(_ *Line[[]work], share float64) { ahead += 500 * share })
	if ahead > 1 {
		t.Errorf("%g of 500 are ahead, want 1 at most", ahead)
	}
}

// Numbers of rules are on the wire.
func TestNumbersOfRules(t *testing.T) {
	for i, name := range []string{"fair", "bid", "fifo", "sjf", "prio_fifo"} {
		c := &Config{Rule: name}
		if n := c.Number(); int(n) != i+1 || NameOf(n) != name {
			t.Errorf("%s has number %d, which is %q", name, n, NameOf(n))
		}
	}
	var none *Config
	if NameOf(none.Number()) != "fifo" || NameOf(0) != "" || NameOf(200) != "" {
		t.Error("a number that is none has a name, or first come, first served has none")
	}
}

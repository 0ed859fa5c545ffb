package gossip

import (
	"math"
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// judge is a node with a rule and a view of twenty: the i-th has 1000·i of the cores that adOf gives and is i/4 links
// away, at 10 ms for each.
func judge(t *testing.T, rule string, change func(*Config)) *Gossip {
	t.Helper()
	c := Defaults()
	c.Rule = rule
	if change != nil {
		change(&c)
	}
	g, _ := started(t, c, 0)
	for i := 1; i <= 20; i++ {
		p := g.insert(id(i), nil, false, nil)
		g.tell(0, p, machine(i, grid.MilliCPU(1000*i), 0.5), uint8(1+i/4))
		p.RTT = time.Duration(1+i/4) * 10 * time.Millisecond
	}
	return g
}

func machine(i int, cores grid.MilliCPU, free float64) *grid.Ad {
	ad := adOf(i, 1)
	ad.Capacity.CPU = cores
	ad.Free.CPU = grid.MilliCPU(float64(cores) * free)
	return ad
}

func TestFamilies(t *testing.T) {
	rare := machine(99, 64000, 0.5) // nobody has as many cores
	many := machine(99, 2000, 0.5)  // nearly all have
	gpu := machine(99, 2000, 0.5)   // nearly all have the cores, nobody the label
	gpu.Labels = []grid.Label{{Key: "gpu", Value: "a100"}, {Key: "os", Value: "linux"}}
	called := machine(99, 2000, 0.5)
	called.Labels = []grid.Label{{Key: "hostname", Value: "bee"}, {Key: "os", Value: "linux"}}
	for _, c := range []struct {
		rule string
		ad   *grid.Ad
		hops uint8
		rtt  time.Duration
		want float64
	}{
		{"universal", many, 60, time.Second, 1},
		{"neighbourhood", many, 2, 0, 1}, {"neighbourhood", many, 3, 0, 0},
		{"neighbourhood:2", many, 1, 0, 1}, {"neighbourhood:2", many, 2, 0, 0},
		{"neighbourhood:50ms", many, 9, 49 * time.Millisecond, 1}, {"neighbourhood:50ms", many, 1, 50 * time.Millisecond, 0},
		{"distinctive", rare, 15, 0, 1}, {"distinctive", many, 5, 0, 0}, {"distinctive", many, 2, 0, 1},
		{"distinctive", gpu, 15, 0, 1}, {"distinctive", called, 5, 0, 0}, {"distinctive:8", rare, 8, 0, 0},
		{"probabilistic:0.5", many, 2, 0, 0.25}, {"probabilistic:0.5", many, 9, 0, 0.1},
		{"probabilistic:20ms", many, 9, 10 * time.Millisecond, 1}, {"probabilistic:20ms", many, 9, 40 * time.Millisecond,
			0.5},
		{"probabilistic:20ms", many, 9, time.Second, 0.1},
		{"prioritised:class", rare, 9, 0, 1}, {"prioritised:class", many, 9, 0, 0.2},
		{"prioritised:class", machine(99, 12000, 0.5), 9, 0, 0.5},
		{"prioritised:potential", rare, 9, 30 * time.Millisecond, 1},
		{"prioritised:potential", many, 9, 30 * time.Millisecond, 0},
		{"prioritised:class*probabilistic:0.5", rare, 1, 0, 0.5},
	} {
		g := judge(t, c.rule, nil)
		p := &Peer{Ad: c.ad, Hops: c.hops, RTT: c.rtt, sentAt: never}
		if got := g.rule.chance(g, 1, p); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s, %d cores, %d hops, %v: chance %g, want %g", c.rule, c.ad.Capacity.CPU/1000, c.hops, c.rtt, got, c.want)
		}
	}
}

// The sentence of [2] on load: nodes with little load are spread farther than nodes with much.
func TestIdleIsToldFarther(t *testing.T) {
	g := judge(t, "prioritised:load", nil)
	chance := func(free float64) float64 {
		return g.rule.chance(g, 1, &Peer{Ad: machine(99, 8000, free), Hops: 3, sentAt: never})
	}
	if idle, mean, full := chance(1), chance(0.5), chance(0); idle != 1 || mean <= full || full < g.cfg.PMin {
		t.Errorf("chances of an idle, a usual and a full one: %g, %g, %g", idle, mean, full)
	}
	g.cfg.GainLoad = 0
	if chance(1) != chance(0) {
		t.Error("a gain of 0 tells them apart")
	}
}

func TestSoftGate(t *testing.T) {
	g := judge(t, "change_sensitive:soft:0.2", nil)
	p := &Peer{Ad: adOf(99, 0.45), Hops: 1, sent: adOf(99, 0.5), sentAt: 0}
	if got := g.rule.chance(g, 1, p); math.Abs(got-0.25) > 1e-9 {
		t.Errorf("a quarter of the threshold passes with %g", got)
	}
	p.Ad = adOf(99, 0.2)
	if got := g.rule.chance(g, 1, p); got != 1 {
		t.Errorf("more than the threshold passes with %g", got)
	}
	g = judge(t, "change_sensitive:0.2", nil)
	if g.ad = nil; !g.Worth(adOf(0, 0.5)) {
		t.Error("the first ad is not worth sending")
	}
	if g.ad = adOf(0, 0.5); g.Worth(adOf(0, 0.31)) || !g.Worth(adOf(0, 0.29)) {
		t.Error("the threshold of the rule is not that of the own ad")
	}
}

// A load that alternates is sent at once each time it changes, and its return at most once every Hold.
func TestFlappingIsHeld(t *testing.T) {
	g, fx := started(t, Defaults(), 2)
	now := grid.Time(10 * time.Second)
	was := g.Stats().Emitted
	g.Advertise(now, adOf(0, 0.25), fx)
	if g.Stats().Emitted != was+1 {
		t.Fatal("a change is not told at once")
	}
	now = now.Add(1100 * time.Millisecond)
	g.Advertise(now, adOf(0, 1), fx)
	if g.Stats().Emitted != was+1 {
		t.Error("what takes the last ad back is told before Hold is over")
	}
	g.Advertise(now, adOf(0, 0.6), fx)
	if g.Stats().Emitted != was+2 {
		t.Error("a third value has to wait for Hold")
	}
	now = now.Add(1500 * time.Millisecond)
	g.Advertise(now, adOf(0, 0.25), fx)
	now = now.Add(600 * time.Millisecond)
	g.Wake(now, grid.Timer{Kind: grid.TimerGossip}, fx)
	if g.Stats().Emitted != was+3 {
		t.Errorf("%d ads: want that the value that stays is told when Hold is over", g.Stats().Emitted-was)
	}
}

func TestRulesThatAreWrong(t *testing.T) {
	for rule, want := range map[string]string{
		"":                         "is not known",
		"universal:3":              `universal: "3": want no parameter`,
		"neighbourhood:0":          "no number of hops from 1 to 64: want neighbourhood:HOPS or TIME",
		"neighbourhood:":           "nothing stands after the colon",
		"neighbourhood:20s":        "no time of more than 0 and at most 10s",
		"probabilistic:1.5":        "no number of more than 0 and at most 1",
		"prioritised:price":        "want prioritised:class, load or potential",
		"change_sensitive:soft:no": "change_sensitive",
		"universal*nonsense":       `"nonsense" is not known: want adaptive, change_sensitive, distinctive`,
	} {
		if err := CheckRule(rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v: want %s", rule, err, want)
		}
	}
	for _, rule := range []string{"neighbourhood:3*distinctive:8", "probabilistic:0.6*change_sensitive:soft:0.1",
		"probabilistic:20ms * prioritised"} {
		if err := CheckRule(rule); err != nil {
			t.Error(err)
		}
	}
}

package gossip

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// outcome is the costs and the accuracy of a rule.
type outcome struct {
	perAd    float64    // entries sent for each change of a node
	err      [6]float64 // mean absolute error of the load, by distance
	worst    float64
	coverage [6]float64 // share of nodes that are known, by distance
}

// spread changes every node's load at random for some rounds, a quarter of the nodes by much.
func spread(t *testing.T, rule string, n, rounds int) (o outcome) {
	c := Defaults()
	c.Rule, c.Neighbours = rule, 4 // few, for long ways
	w := newNetwork(t, n, 9, c)
	w.join(200 * time.Millisecond)
	w.run(4 * time.Minute)
	r := grid.NewRand(77, 0)
	free := make([]float64, n)
	for i := range free {
		free[i] = r.Float64()
	}
	var pairs, known [6]float64
	before := w.ads
	for round := range rounds {
		for i := range free {
			sigma := 0.02
			if i%4 == 0 {
				sigma = 0.15
			}
			f := math.Abs(free[i] + sigma*r.NormFloat64())
			free[i] = min(f, max(2-f, 0), 1)
			w.say(i, free[i])
		}
		w.run(10 * time.Second)
		if round < rounds/4 {
			continue
		}
		for i := round % 5; i < n; i += 5 {
			for j, h := range w.distances(i) {
				if h < 1 || h > 5 {
					continue
				}
				pairs[h]++
				if p := w.nodes[j].Peer(id(i)); p != nil && p.Ad != nil {
					known[h]++
					e := math.Abs(load(p.Ad) - load(w.nodes[i].ad))
					o.err[h] += e
					o.worst = max(o.worst, e)
				}
			}
		}
	}
	o.perAd = float64(w.ads-before) / float64(n*rounds)
	for h := range pairs {
		if pairs[h] > 0 {
			o.coverage[h] = known[h] / pairs[h]
			o.err[h] /= max(known[h], 1)
		}
	}
	t.Logf("%-32s %6.1f entries per change, error %.3f, worst %.2f, coverage %.2f", rule, o.perAd, o.err[1:5], o.worst,
		o.coverage[1:5])
	return o
}

// The sentences of [2] and [3] on the rules: far fewer messages than a flood; near nodes are known more exactly than
// far ones; and with a threshold the error is about the threshold, at any distance.
func TestRulesAgainstEachOther(t *testing.T) {
	const n, rounds = 120, 24
	universal := spread(t, "universal", n, rounds)
	prob := spread(t, "probabilistic", n, rounds)
	change := spread(t, "change_sensitive", n, rounds)
	both := spread(t, "probabilistic*change_sensitive", n, rounds)

	for h := 1; h <= 3; h++ {
		if universal.coverage[h] < 1 || universal.err[h] > 1e-3 {
			t.Errorf("universal at %d hops: coverage %g, error %g: want all known as it is", h, universal.coverage[h],
				universal.err[h])
		}
		if change.err[h] > 0.1 {
			t.Errorf("change_sensitive at %d hops: error %g, want at most the threshold, 0.1", h, change.err[h])
		}
		if h > 1 && prob.err[h] < prob.err[h-1] {
			t.Errorf("probabilistic: error %g at %d hops, %g one nearer: want it not to fall", prob.err[h], h, prob.err[h-1])
		}
		if h > 1 && both.err[h] < both.err[h-1] {
			t.Errorf("product: error %g at %d hops, %g one nearer: want it not to fall", both.err[h], h, both.err[h-1])
		}
	}
	if change.worst > 0.4 { // every gate on the way may hold back up to the threshold
		t.Errorf("change_sensitive: worst error %g, want at most the threshold for each hop", change.worst)
	}
	if prob.perAd > 0.5*universal.perAd || change.perAd > 0.5*universal.perAd {
		t.Errorf("entries: universal %.0f, probabilistic %.0f, change_sensitive %.0f: want at most half", universal.perAd,
			prob.perAd, change.perAd)
	}
	if both.perAd > 0.1*universal.perAd || both.perAd > change.perAd || both.perAd > prob.perAd {
		t.Errorf("entries: product %.0f: want a tenth of universal's %.0f and less than each factor", both.perAd,
			universal.perAd)
	}
}

func TestUniversalReachesAll(t *testing.T) {
	c := Defaults()
	c.Rule = "universal"
	w := newNetwork(t, 100, 11, c)
	w.join(200 * time.Millisecond)
	w.run(4 * time.Minute)
	for i := 0; i < 100; i += 10 {
		w.say(i, 0.25)
	}
	w.run(15 * time.Second)
	for i := 0; i < 100; i += 10 {
		for j, n := range w.nodes {
			if p := n.Peer(id(i)); j != i && (p == nil || p.Ad == nil || p.Ad.Free.CPU != 2000) {
				t.Errorf("node %d has not heard %d", j, i)
			}
		}
	}
}

func TestDelta(t *testing.T) {
	scale := time.Minute
	base := adOf(1, 0.5)
	base.Capacity.Counts, base.Free.Counts = "fpga=1,gpu=4", "fpga=1,gpu=2"
	base.Rates = []grid.Rate{{Class: "a", Alpha: 1, Mu: 2}, {Class: "b", Alpha: 0.5, Mu: 0.001}}
	for name, c := range map[string]struct {
		change func(*grid.Ad)
		want   float64
	}{
		"nothing":          {func(a *grid.Ad) { a.Seq.N = 9 }, 0},
		"free cores":       {func(a *grid.Ad) { a.Free.CPU -= 800 }, 0.1},
		"free memory":      {func(a *grid.Ad) { a.Free.Memory /= 4 }, 0.75},
		"backlog 1 scale":  {func(a *grid.Ad) { a.Backlog = time.Minute }, 0.5},
		"backlog 3 scales": {func(a *grid.Ad) { a.Backlog = 3 * time.Minute }, 0.75},
		"arrival rate":     {func(a *grid.Ad) { a.Rates = rates(a, 0, 0.8, 2) }, 0.2},
		"execution rate":   {func(a *grid.Ad) { a.Rates = rates(a, 1, 0.5, 0.002) }, 0.5},
		"tiny arrivals": {func(a *grid.Ad) { a.Rates = append(rates(a, 0, 1, 2), grid.Rate{Class: "c", Alpha: 1e-4}) },
			1e-3},
		"first execution": {func(a *grid.Ad) { a.Rates = append(rates(a, 0, 1, 2), grid.Rate{Class: "c", Mu: 1e-4}) }, 1},
		"class gone":      {func(a *grid.Ad) { a.Rates = a.Rates[:1] }, 1},
		"speed":           {func(a *grid.Ad) { a.Speed = 1.25 }, 0.2},
		"availability":    {func(a *grid.Ad) { a.Availability = 0.7 }, 0.3},
		"label":           {func(a *grid.Ad) { a.Labels = []grid.Label{{Key: "os", Value: "plan9"}} }, 1},
		"engine":          {func(a *grid.Ad) { a.Engines = nil }, 1},
		"draining":        {func(a *grid.Ad) { a.Draining = true }, 1},
		"full":            {func(a *grid.Ad) { a.Full = true }, 1},
		"away":            {func(a *grid.Ad) { a.Away = true }, 1},
		"address":         {func(a *grid.Ad) { a.Addrs = []string{"/ip4/10.0.0.1/tcp/1"} }, 1},
		"capacity":        {func(a *grid.Ad) { a.Capacity.CPU++ }, 1},
		"units":           {func(a *grid.Ad) { a.Capacity.Counts = "gpu=3" }, 1},
		"free units":      {func(a *grid.Ad) { a.Free.Counts = "fpga=1,gpu=1" }, 0.25},
		"price of half":   {func(a *grid.Ad) { a.Price = 500 }, 0.4},
		"small price":     {func(a *grid.Ad) { a.Price = 50 }, 0.04},
		"outbid":          {func(a *grid.Ad) { a.Outbid = 500 }, 0.4},
		"wait for a unit": {func(a *grid.Ad) { a.Waits = "gpu=60" }, 0.5},
	} {
		b := *base
		c.change(&b)
		for _, d := range []float64{Delta(base, &b, scale), Delta(&b, base, scale)} {
			if math.Abs(d-c.want) > 1e-9 {
				t.Errorf("%s: Delta %g, want %g", name, d, c.want)
			}
		}
	}
}

func rates(a *grid.Ad, i int, alpha, mu float64) []grid.Rate {
	r := append([]grid.Rate(nil), a.Rates...)
	r[i].Alpha, r[i].Mu = alpha, mu
	return r
}

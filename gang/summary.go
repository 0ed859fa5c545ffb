package gang

import (
	"math"
	"slices"
)

// Summary is what is known of a group before it is mapped.
type Summary struct {
	Ranks  int
	Speed  float64 // of all ranks together
	Memory float64 // bytes, of all ranks together
	Pairs  Least   // at most the sums over all ordered pairs of ranks

	Sites []SiteSummary // those with ranks, in the order in which ranks stand
}

// SiteSummary is about the ranks of one site.
type SiteSummary struct {
	Site    int
	Ranks   int
	Speed   float64  // of these together
	Slowest float64  // of one of them
	Fastest float64  // of one of them
	Inside  Least    // the best link in the site; 0 where ranks may share a machine
	Next    [2]Least // the best link to the next site in the order, and the best one back
}

// Least is a bound from below on links.
type Least struct {
	Latency float64 // seconds
	Inverse float64 // of the bandwidth, seconds a byte
}

// between are bounds from below on the links between sites, and on those within a site, where a is b.
type between struct {
	sites int
	of    []Least // row and column a site
}

func (t *between) at(a, b int) *Least { return &t.of[a*t.sites+b] }

func newBetween(p *Pool, site []int, sites int) *between {
	t := &between{sites: sites, of: make([]Least, sites*sites)}
	for k := range t.of {
		t.of[k] = Least{math.Inf(1), math.Inf(1)}
	}
	n := len(p.Machines)
	machines := make([]int, sites)
	for a := range n {
		machines[site[a]]++
		for b := range n {
			if a != b {
				l := t.at(site[a], site[b])
				l.Latency, l.Inverse = min(l.Latency, p.latency[a*n+b]), min(l.Inverse, p.inverse[a*n+b])
			}
		}
	}
	for m := range n {
		if s := site[m]; machines[s] == 1 || p.slots(m) > 1 {
			*t.at(s, s) = Least{}
		}
	}
	return t
}

// growing is the summary of a group that grows by one place after the other.
type growing struct {
	Summary
	key uint64
	at  []int // in Sites, by site; -1 = it has no ranks
}

func (g *growing) reset(sites int) {
	for len(g.at) < sites {
		g.at = append(g.at, -1)
	}
	for k := range g.Sites {
		g.at[g.Sites[k].Site] = -1
	}
	g.key = 0
	g.Summary = Summary{Sites: g.Sites[:0]}
}

// add adds a place. Sums over ordered pairs grow by the links to and from each place that is there.
func (g *growing) add(x *places, t *between, place int) {
	s := x.site[place]
	if g.at[s] < 0 {
		g.touch(t, s)
	}
	for k := range g.Sites {
		if o := &g.Sites[k]; o.Ranks > 0 {
			n, to, from := float64(o.Ranks), t.at(s, o.Site), t.at(o.Site, s)
			g.Pairs.Latency += n * (to.Latency + from.Latency)
			g.Pairs.Inverse += n * (to.Inverse + from.Inverse)
		}
	}
	speed := x.speed[place]
	o := &g.Sites[g.at[s]]
	o.Ranks++
	o.Speed += speed
	o.Slowest, o.Fastest = min(o.Slowest, speed), max(o.Fastest, speed)
	g.Ranks++
	g.Speed += speed
	g.Memory += x.memory[place]
	g.key += x.key[place]
}

// touch enters a site.
func (g *growing) touch(t *between, s int) {
	k, _ := slices.BinarySearchFunc(g.Sites, s, func(o SiteSummary, s int) int { return o.Site - s })
	g.Sites = slices.Insert(g.Sites, k, SiteSummary{Site: s, Slowest: math.Inf(1), Inside: *t.at(s, s)})
	for k := range g.Sites {
		o := &g.Sites[k]
		g.at[o.Site] = k
		o.Next = [2]Least{}
		if k+1 < len(g.Sites) {
			next := g.Sites[k+1].Site
			o.Next = [2]Least{*t.at(o.Site, next), *t.at(next, o.Site)}
		}
	}
}

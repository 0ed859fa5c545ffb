package spread

import (
	"math"
	"time"

	"skep/grid"
)

// Farthest is the largest distance, in links, that figures are told for.
const Farthest = 6

// Result is what a run measured, after the warm-up.
type Result struct {
	PerAd   float64 // entries sent for each change of a load, whether that was told or not
	Digests float64 // a node and second
	Bytes   float64 // a node and second
	View    float64 // mean error over all others; who is not known is taken to be half loaded

	// By links of the overlay: mean error and seconds since the last news of those known, and share known.
	Error, Stale, Coverage [Farthest + 1]float64

	Phases []PhaseResult
}

// PhaseResult is of one phase.
type PhaseResult struct{ Bytes, View float64 }

// looks is what is seen of the views.
type looks struct {
	from   []int
	far    [][]uint8
	pairs  [Farthest + 1]float64
	known  [Farthest + 1]float64
	error  [Farthest + 1]float64
	stale  [Farthest + 1]float64
	phases []tally
	before counters // when the warm-up ended
	open   bool
}

// tally is of one phase.
type tally struct {
	at     grid.Time
	bytes  uint64
	error  float64
	looked float64
}

type counters struct {
	at                           grid.Time
	entries, digests, bytes, ads uint64
}

func (w *world) counters() counters {
	return counters{w.now, w.entries, w.digests, w.bytes, w.ads}
}

// choose picks whose views are looked at.
func (l *looks) choose(w *world) {
	n := w.cfg.Lookers
	if n == 0 || n > w.cfg.Nodes {
		n = w.cfg.Nodes
	}
	for k := range n {
		i := k * w.cfg.Nodes / n
		l.from = append(l.from, i)
		l.far = append(l.far, w.over.distances(i))
	}
}

// mark ends a phase and begins the next.
func (l *looks) mark(w *world) { l.phases = append(l.phases, tally{at: w.now, bytes: w.bytes}) }

// at compares views with what is.
func (l *looks) at(w *world) {
	if !l.open {
		l.open, l.before = true, w.counters()
	}
	t := &l.phases[len(l.phases)-1]
	for k, i := range l.from {
		n := &w.nodes[i]
		for j := range w.nodes {
			if j == i {
				continue
			}
			is := w.nodes[j].load
			p := n.Peer(id(j))
			isKnown := p != nil && p.Ad != nil
			off := math.Abs(is - 0.5)
			if isKnown {
				off = math.Abs(is - (1 - float64(p.Ad.Free.CPU)/float64(p.Ad.Capacity.CPU)))
			}
			t.error += off
			t.looked++
			h := l.far[k][j]
			if h > Farthest {
				continue
			}
			l.pairs[h]++
			if isKnown {
				l.known[h]++
				l.error[h] += off
				l.stale[h] += w.now.Sub(p.Heard).Seconds()
			}
		}
	}
}

// result sums up.
func (w *world) result() *Result {
	l, b := &w.look, &w.look.before
	seconds := w.now.Sub(b.at).Seconds() * float64(w.cfg.Nodes)
	r := &Result{PerAd: float64(w.entries-b.entries) / max(float64(w.ads-b.ads), 1),
		Digests: float64(w.digests-b.digests) / seconds,
		Bytes:   float64(w.bytes-b.bytes) / seconds}
	for h := range r.Error {
		r.Error[h], r.Stale[h] = l.error[h]/l.known[h], l.stale[h]/l.known[h]
		r.Coverage[h] = l.known[h] / l.pairs[h]
	}
	off, looked := 0.0, 0.0
	for k := range l.phases {
		t := &l.phases[k]
		end, bytes := w.now, w.bytes
		if k+1 < len(l.phases) {
			end, bytes = l.phases[k+1].at, l.phases[k+1].bytes
		}
		off, looked = off+t.error, looked+t.looked
		r.Phases = append(r.Phases,
			PhaseResult{Bytes: float64(bytes-t.bytes) / (end.Sub(t.at).Seconds() * float64(w.cfg.Nodes)),
				View: t.error / t.looked})
	}
	r.View = off / looked
	return r
}

// Reference is the setting of the small run whose figures stand in sim/paper/dissemination: 150 nodes on a ring with
// random edges, whose loads walk once in a round, a quarter of them much; all news of a round has spread before the
// next, and nothing is repeated or forgotten.
func Reference(rule string, seed uint64) Config {
	const round, rounds, day = 10 * time.Second, 80, 24 * time.Hour
	c := Config{Nodes: 150, Degree: 6, Ring: true, Seed: seed, Latency: time.Millisecond, Sample: round,
		Warmup: rounds / 2 * round,
		Phases: []Phase{{Time: rounds * round, Kind: Walk, Every: round, Share: 0.25, Sigma: 0.15, SmallSigma: 0.02}}}
	c.Gossip = still(rule, day)
	c.Gossip.View = 256
	c.Gossip.MinGap, c.Gossip.Hold = 1, 1
	return c
}

// Plane is the same load on more nodes, which all have 8 neighbours and know 64 others, in a plane, with all that is
// default of gossip but that the overlay stays: what does not change is refreshed, and digests are joined.
func Plane(rule string, nodes int, seed uint64) Config {
	const round = 10 * time.Second
	c := Config{Nodes: nodes, Degree: 8, Seed: seed, Latency: 5 * time.Millisecond, Sample: 2 * round, Lookers: 64,
		Poll: round, Warmup: 10 * round,
		Sizes:  []int{4, 4, 8, 4, 16, 4, 4, 8, 4, 4, 4, 8, 4, 4, 4, 16, 4, 4, 8, 128},
		Phases: []Phase{{Time: 20 * round, Kind: Walk, Every: round, Share: 0.25, Sigma: 0.15, SmallSigma: 0.02}}}
	c.Gossip = still(rule, 30*time.Second)
	c.Gossip.Neighbours, c.Gossip.View = 8, 64
	return c
}

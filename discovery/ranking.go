package discovery

import (
	"math"
	"slices"
	"time"

	"skep/grid"
)

// maxRanked bounds the ranked nodes; beyond it the one that met fewest is removed.
const maxRanked = 256

// ranking is how many requests each node met, and how many walks this node sent it.
type ranking struct {
	load   float64 // see Config
	ranked []ranked
	halved grid.Time
}

type ranked struct {
	node    grid.NodeID
	met     float64 // requests, each halved after every Age
	sent    float64 // walks that this node sent it, likewise
	backlog time.Duration
	score   float64
}

// backlogHalf is the backlog in a node's ad that halves its score.
const backlogHalf = 10 * time.Second

// rate computes the score by which a peer is chosen:
//
//	met / ((1 + sent)^load · (1 + backlog/10 s))
//
// With load 0 and no backlog it is that of [1]. If a part q of the walks sent to a node is met, met = q·sent, and
// always choosing the highest score keeps all scores about equal, so that sent ∝ q^(1/(load−1)): at 2 in proportion to
// how often a node can help, at 3 to the root of that.
func (r *ranking) rate(p *ranked) {
	p.score = p.met
	if r.load > 0 {
		p.score /= math.Pow(1+p.sent, r.load) * (1 + float64(p.backlog)/float64(backlogHalf))
	}
}

// pick returns the open node with the highest score; the first of equal ones.
func (r *ranking) pick(h *Hop) (to grid.NodeID, ok bool) {
	most := 0.0
	for i := range r.ranked {
		if p := &r.ranked[i]; p.score > most && h.Open(p.node) {
			to, ok, most = p.node, true, p.score
		}
	}
	return to, ok
}

// met counts a request that the node of the ad met.
func (r *ranking) met(ad *grid.Ad) {
	i := r.find(ad.Node)
	if i < 0 {
		if i = len(r.ranked); i < maxRanked {
			r.ranked = append(r.ranked, ranked{})
		} else {
			i = 0
			for k := range r.ranked {
				if r.ranked[k].met < r.ranked[i].met {
					i = k
				}
			}
		}
		r.ranked[i] = ranked{node: ad.Node}
	}
	p := &r.ranked[i]
	p.met++
	p.backlog = max(ad.Backlog, 0)
	r.rate(p)
}

// sent counts a walk sent to a node, if it is ranked.
func (r *ranking) sent(node grid.NodeID) {
	if i := r.find(node); i >= 0 {
		r.ranked[i].sent++
		r.rate(&r.ranked[i])
	}
}

// lost halves the counts of a node that did not answer: it may be dead.
func (r *ranking) lost(node grid.NodeID) {
	if i := r.find(node); i >= 0 {
		r.ranked[i].met /= 2
		r.rate(&r.ranked[i])
	}
}

// burden returns how much was sent to a node.
func (r *ranking) burden(node grid.NodeID) float64 {
	if i := r.find(node); i >= 0 {
		return r.ranked[i].sent
	}
	return 0
}

// age halves all counts after each span, and removes negligible ones.
func (r *ranking) age(now grid.Time, span time.Duration) {
	n := now.Sub(r.halved) / span
	if n <= 0 {
		return
	}
	r.halved = r.halved.Add(n * span)
	if len(r.ranked) == 0 {
		return
	}
	f := math.Ldexp(1, -int(min(n, 64)))
	for i := range r.ranked {
		p := &r.ranked[i]
		p.met *= f
		p.sent *= f
		r.rate(p)
	}
	r.ranked = slices.DeleteFunc(r.ranked, func(p ranked) bool { return p.met < 1.0/64 })
}

func (r *ranking) find(node grid.NodeID) int {
	return slices.IndexFunc(r.ranked, func(p ranked) bool { return p.node == node })
}

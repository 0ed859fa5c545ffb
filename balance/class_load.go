package balance

import (
	"math"

	"skep/grid"
)

// classLoad is class based placement with load information [4, section 3.4.4]: of the nodes that are kept for
// the class, or of the soonest of them as known without a message, the one with the shortest queue gets the
// task. What counts is tasks, not their sizes. The source leaves open whether the task in service is one of
// them: cb_li does not count it, cb_lis does. A node with several slots counts its tasks by slot.
//
// Equal ones: the decider's own cluster first, then at random; FirstTie takes the first in the order of the
// clusters, going round from the own one.
type classLoad struct {
	decider
	serving bool // the task in service counts
	home    cluster
}

func init() {
	register("cb_li", func(c *Config, r *grid.Rand) Policy { return &classLoad{decider: decider{cfg: c, rand: r}} })
	register("cb_lis", func(c *Config, r *grid.Rand) Policy {
		return &classLoad{decider: decider{cfg: c, rand: r}, serving: true}
	})
}

func (p *classLoad) Poll(now grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	p.home = v.home()
	if !p.meet(t, v) {
		return dst
	}
	p.rank(now, v, false)
	some := false
	for k := range v.Nodes {
		if v.Nodes[k].may(t.Class) {
			some = true
		} else {
			p.scores[k] = math.Inf(1)
		}
	}
	if !some { // whom else to ask?
		p.alone, p.lonely = true, t.ID
		return dst
	}
	return p.ask(v, p.cfg.PollMax, dst)
}

func (p *classLoad) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	p.scores = p.scores[:0]
	for k := range answers {
		s := &answers[k]
		score := math.Inf(1)
		if s.serves(t.Class) {
			score = p.length(now, s) + able(s)
		}
		p.scores = append(p.scores, score)
	}
	return p.place(t, answers, p.nearest(answers))
}

// length is the tasks in a node's queue for each of its slots, with those placed since it said so. A node that
// tells no number is judged by its time.
func (p *classLoad) length(now grid.Time, s *State) float64 {
	n, slots := float64(max(s.Waiting, 0)), p.slotsOf(s)
	if p.serving {
		n += float64(max(s.Running, 0))
	}
	alone := execution(s)
	if s.Waiting <= 0 && s.Running <= 0 && s.Ready > 0 && alone > 0 {
		n = s.Ready / alone
	}
	if alone > 0 {
		n += p.charge(now, s) / alone * slots
	}
	return n / slots
}

// nearest is draw with the nodes of the own cluster before the others, and those in the order of the ring.
func (p *classLoad) nearest(answers []State) int {
	best, at, n := math.Inf(1), -1, 0
	for k, s := range p.scores {
		if math.IsInf(s, 1) || s > best {
			continue
		}
		if s < best {
			best, at, n = s, k, 1
			continue
		}
		switch p.prefers(&answers[k], &answers[at]) {
		case 1:
			at, n = k, 1
		case 0:
			n++
			if p.rand.IntN(n) == 0 {
				at = k
			}
		}
	}
	return at
}

// prefers is 1 where a goes before an equal b, −1 where b does, 0 where chance decides.
func (p *classLoad) prefers(a, b *State) int {
	x, y := clusterOf(a.Site, a.Node), clusterOf(b.Site, b.Node)
	switch {
	case p.cfg.FirstTie && (x.before(y, p.home) || x == y && a.Node.Compare(b.Node) < 0), x == p.home && y != p.home:
		return 1
	case p.cfg.FirstTie, y == p.home && x != p.home:
		return -1
	}
	return 0
}

func (p *classLoad) detailed() {}

package balance

import (
	"math"

	"skep/grid"
)

// pick finds the group whose next task is to be placed, where, and when it would be done there; nil if none can be.
func (p *batch) pick(now grid.Time, ts []*grid.Task, answers []State) (best *group, at int, done float64) {
	most := math.Inf(-1)
	for k := range p.groups {
		g := &p.groups[k]
		if g.next == len(g.tasks) {
			continue
		}
		node, first, second := p.best(now, g, ts[0].Class, answers)
		if node < 0 {
			continue
		}
		key := second - first // may be infinite
		switch p.rule {
		case minMin:
			key = -first
		case maxMin:
			key = first
		}
		if best == nil || key > most || key == most && g.tasks[g.next] < best.tasks[best.next] {
			best, at, done, most = g, node, first, key
		}
	}
	return best, at, done
}

// best finds the node that would complete a task of a group first, when, and when the second best would: another
// node, or with xsufferage the best of another cluster. −1 if nobody can.
func (p *batch) best(now grid.Time, g *group, said string, answers []State) (at int, first, second float64) {
	clusters := p.cluster && len(p.ring.clusters) > 1
	at, first, second = -1, math.Inf(1), math.Inf(1)
	ties := 0
	for k := range answers {
		c := p.nodes[k].start()
		if p.cluster {
			c = max(c, p.fetch(now, g, k, answers))
		}
		c += p.alone(g.class, said, &answers[k])
		same := clusters && at >= 0 && p.nodes[k].cluster == p.nodes[at].cluster
		switch {
		case !(c < math.Inf(1)): // cannot run it
		case c < first:
			if !same {
				second = first
			}
			at, first, ties = k, c, 1
		case c == first:
			if !same {
				second = c
			}
			if ties++; p.prefers(answers, k, at, ties) {
				at = k
			}
		case c < second && !same:
			second = c
		}
	}
	return at, first, second
}

// prefers reports whether the nth of equal nodes takes the place of the one before.
func (p *batch) prefers(answers []State, k, at, n int) bool {
	if p.cfg.FirstTie {
		return answers[k].Node.Compare(answers[at].Node) < 0
	}
	return p.rand.IntN(n) == 0
}

// fetch is the time in seconds until the inputs of a group's tasks would be at a node.
func (p *batch) fetch(now grid.Time, g *group, k int, answers []State) float64 {
	s := &answers[k]
	f := sound(s.Fetch)
	if at, ok := p.brings[fileKey{g.job, clusterOf(s.Site, s.Node)}]; ok {
		f = min(f, max(at.Sub(now).Seconds(), 0))
	}
	return f
}

// bring notes that the inputs of a group's tasks are on their way to a cluster.
func (p *batch) bring(now grid.Time, g *group, k int, answers []State) {
	s := &answers[k]
	key := fileKey{g.job, clusterOf(s.Site, s.Node)}
	if _, ok := p.brings[key]; !p.cluster || ok || !(s.Fetch > 0) {
		return
	}
	if len(p.brings) >= mostBrought {
		clear(p.brings)
	}
	p.brings[key] = now.Add(grid.Seconds(s.Fetch))
}

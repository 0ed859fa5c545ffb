package balance

import "skep/grid"

// classTurns is round robin on two levels, cb_rr2, which [4, section 4.9] proposes and leaves open: a task goes to
// the cluster that the pointer of its class names, or the next that serves the class, and there to the node
// whose turn it is. The pointer stays until each node of the cluster had its turn, so that nodes and not
// clusters get equal shares. Nothing need be known of their load.
type classTurns struct {
	classBased
	counts map[turnKey]int
	at     map[string]cluster // the pointer, by class
	nodes  []int32
}

type turnKey struct {
	class string
	cluster
}

// mostTurns bounds the counts that are kept; when there are more they all begin anew.
const mostTurns = 4096

func init() {
	register("cb_rr2", func(c *Config, r *grid.Rand) Policy {
		return &classTurns{classBased: classBased{cfg: c, rand: r, begin: turn}, counts: map[turnKey]int{},
			at: map[string]cluster{}}
	})
}

func (p *classTurns) Poll(_ grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	p.home = v.home()
	p.ring.look(v.Nodes)
	q := p.inquiry(t.ID)
	again := q.named
	q.named = false
	if !q.far {
		q.far, q.start = true, p.home
		if c, ok := p.at[t.Class]; ok {
			q.start = c
		}
	}
	return p.around(t, v, again, q, dst)
}

// Choose takes the first cluster on the way, and in it the nth node in the order of identities.
func (p *classTurns) Choose(now grid.Time, t *grid.Task, answers []State) Choice {
	c := p.classBased.Choose(now, t, answers)
	if c.Act != Place {
		return c
	}
	p.nodes = append(p.nodes[:0], p.able...) // of the cluster, as they answered
	for k := 1; k < len(p.nodes); k++ {
		for x := k; x > 0 && answers[p.nodes[x]].Node.Compare(answers[p.nodes[x-1]].Node) < 0; x-- {
			p.nodes[x], p.nodes[x-1] = p.nodes[x-1], p.nodes[x]
		}
	}
	at := clusterOf(answers[p.nodes[0]].Site, answers[p.nodes[0]].Node)
	if len(p.counts) >= mostTurns {
		clear(p.counts)
		clear(p.at)
	}
	key := turnKey{t.Class, at}
	n := p.counts[key]
	p.counts[key] = n + 1
	p.at[t.Class] = at
	if (n+1)%len(p.nodes) == 0 {
		p.at[t.Class] = p.after(at)
	}
	s := &answers[p.nodes[n%len(p.nodes)]]
	return Choice{Act: Place, Node: s.Node, ECT: s.ECT}
}

// after is the cluster that follows one in the last view.
func (p *classTurns) after(c cluster) cluster {
	at, here := p.ring.at(c)
	if here {
		at++
	}
	if len(p.ring.clusters) == 0 {
		return c
	}
	return p.ring.clusters[at%len(p.ring.clusters)]
}

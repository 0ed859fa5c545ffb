package balance

import (
	"skep/grid"
)

// classBased is class based placement [4, sections 3.4.2, 3.4.3 and 4.9]: clusters are asked one after the
// other, and the first node that is kept for the task's class gets it, whatever waits there. Where the class
// of each node is known without a message nobody is asked. The three differ in where they begin:
//
//	cb      at home, and on in the order of the clusters, the same for every task
//	cb_rr   at home; what home cannot serve, at the cluster that a pointer names among the others; it moves
//	        by one for each such task, wherever that is served
//	cb_frr  at the cluster that the pointer names, home being one of the ring
//
// In a cluster the first to answer is taken [4]; here it is the first in the order of identities (FirstTie)
// or any, at random.
type classBased struct {
	cfg   *Config
	rand  *grid.Rand
	begin begin

	ring   ring
	home   cluster
	turns  map[string]int // the pointer; by class where each has its own, else under ""
	served cluster        // that served last, where the pointer is set behind it
	open   []inquiry
	able   []int32
}

// begin is where a class based policy begins to look.
type begin uint8

const (
	atHome   begin = iota // and goes on from there
	homeTurn              // and goes on where the pointer is
	turn                  // where the pointer is
)

// inquiry is a task that is being decided on.
type inquiry struct {
	id    grid.AttemptID
	far   bool    // home has been passed
	start cluster // of the others, where it began
	named bool    // somebody was asked in the last round
}

// mostInquiries bounds the tasks whose place in the ring is remembered while they are decided on; one that is
// forgotten begins anew.
const mostInquiries = 256

func init() {
	for name, b := range map[string]begin{"cb": atHome, "cb_rr": homeTurn, "cb_frr": turn} {
		register(name, func(c *Config, r *grid.Rand) Policy {
			return &classBased{cfg: c, rand: r, begin: b, turns: map[string]int{}}
		})
	}
}

func (p *classBased) Poll(_ grid.Time, t *grid.Task, v View, dst []grid.NodeID) []grid.NodeID {
	p.home = v.home()
	p.ring.look(v.Nodes)
	q := p.inquiry(t.ID)
	again := q.named
	q.named = false
	if !q.far && p.begin != turn {
		if k, ok := p.ring.at(p.home); ok && worth(v, p.ring.of(k), t.Class) {
			return p.ask(t, v, k, again, q, dst)
		}
	}
	if !q.far {
		q.far, q.start = true, p.start(t)
	}
	return p.around(t, v, again, q, dst)
}

// around asks the first cluster that is worth it, from where the task began.
func (p *classBased) around(t *grid.Task, v View, again bool, q *inquiry, dst []grid.NodeID) []grid.NodeID {
	n := len(p.ring.clusters)
	at, _ := p.ring.at(q.start)
	for k := range n {
		if c := (at + k) % n; worth(v, p.ring.of(c), t.Class) {
			return p.ask(t, v, c, again, q, dst)
		}
	}
	return dst
}

// worth reports whether somebody of a cluster serves the class, or may.
func worth(v View, nodes []int32, class string) bool {
	for _, k := range nodes {
		if v.Nodes[k].may(class) {
			return true
		}
	}
	return false
}

// ask appends the nodes of a cluster that serve the class or may. When all classes are known, nobody need be asked.
func (p *classBased) ask(t *grid.Task, v View, c int, again bool, q *inquiry, dst []grid.NodeID) []grid.NodeID {
	q.named = again
	for _, k := range p.ring.of(c) {
		if s := v.Nodes[k].Site; s != nil && s.Closed {
			q.named = true
		}
	}
	if !q.named {
		return dst
	}
	for _, k := range p.ring.of(c) {
		if v.Nodes[k].may(t.Class) {
			dst = append(dst, v.Nodes[k].Node)
		}
	}
	return dst
}

// start is where a task that is not served at home begins, and moves the pointer.
func (p *classBased) start(t *grid.Task) cluster {
	if len(p.ring.clusters) == 0 || p.begin == atHome {
		return p.home
	}
	at, n := p.ring.from(p.home, p.begin == turn)
	if n == 0 {
		return p.home
	}
	if p.cfg.Pointer == PointerPast {
		for k := range n {
			if c := p.ring.nth(at + k); p.served != (cluster{}) && p.served.before(c, p.home) {
				return c
			}
		}
		return p.ring.nth(at)
	}
	k := p.pointer(t)
	p.turns[k]++
	return p.ring.nth(at + (p.turns[k]-1)%n)
}

// pointer is the key of a task's pointer.
func (p *classBased) pointer(t *grid.Task) string {
	if _, ok := p.turns[t.Class]; p.cfg.Pointer == PointerClass && (ok || len(p.turns) < MaxClasses) {
		return t.Class
	}
	return ""
}

func (p *classBased) Choose(_ grid.Time, t *grid.Task, answers []State) Choice {
	q, at := p.find(t.ID)
	first := -1
	for k := range answers {
		s := &answers[k]
		if s.serves(t.Class) && able(s) == 0 && (first < 0 || p.sooner(&q, s, &answers[first])) {
			first = k
		}
	}
	if first < 0 && q.named {
		return Choice{Act: PollMore}
	}
	p.forget(at)
	if first < 0 {
		return Choice{Act: Wait}
	}
	c := clusterOf(answers[first].Site, answers[first].Node)
	if c != p.home || p.begin == turn {
		p.served = c
	}
	s := &answers[p.within(t, c, answers)]
	return Choice{Act: Place, Node: s.Node, ECT: s.ECT}
}

// sooner reports whether the cluster of a comes before that of b in the order in which they are asked.
func (p *classBased) sooner(q *inquiry, a, b *State) bool {
	x, y := clusterOf(a.Site, a.Node), clusterOf(b.Site, b.Node)
	if p.begin != turn && (x == p.home) != (y == p.home) {
		return x == p.home
	}
	return x.before(y, q.start)
}

// within picks one of the nodes of a cluster that serve the class.
func (p *classBased) within(t *grid.Task, c cluster, answers []State) int {
	p.able = p.able[:0]
	first := int32(-1)
	for k := range answers {
		s := &answers[k]
		if clusterOf(s.Site, s.Node) != c || !s.serves(t.Class) || able(s) != 0 {
			continue
		}
		p.able = append(p.able, int32(k))
		if first < 0 || s.Node.Compare(answers[first].Node) < 0 {
			first = int32(k)
		}
	}
	if p.cfg.FirstTie || len(p.able) == 1 {
		return int(first)
	}
	return int(p.able[p.rand.IntN(len(p.able))])
}

// inquiry returns the entry of a task, which it makes if there is none.
func (p *classBased) inquiry(id grid.AttemptID) *inquiry {
	for k := range p.open {
		if p.open[k].id == id {
			return &p.open[k]
		}
	}
	if len(p.open) == mostInquiries {
		p.forget(0)
	}
	p.open = append(p.open, inquiry{id: id, start: p.home})
	return &p.open[len(p.open)-1]
}

func (p *classBased) find(id grid.AttemptID) (inquiry, int) {
	for k := range p.open {
		if p.open[k].id == id {
			return p.open[k], k
		}
	}
	return inquiry{start: p.home}, -1
}

func (p *classBased) forget(k int) {
	if k >= 0 {
		p.open = append(p.open[:k], p.open[k+1:]...)
	}
}

func (p *classBased) Note(Outcome) {}

// home is the decider's own cluster.
func (v *View) home() cluster { return clusterOf(v.Home, v.Self) }

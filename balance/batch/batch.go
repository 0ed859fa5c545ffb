package batch

import "math"

// Kind is tasks of a meta-task that are alike: they take the same time on the same nodes.
type Kind struct {
	Tasks int       // number of them, at least 1
	Ages  []float64 // of its tasks since they came, seconds, oldest first; the last stands for all further ones
	Ranks []int     // of its tasks among all: of equal ones the least is taken; nil = 0
	Alone []float64 // execution time on each node, seconds; +Inf where it cannot run
	Fetch []float64 // by node: time from now on until the inputs are there, seconds; nil = nothing is fetched
	Input int       // kinds with the same number have the same inputs; 0 = of its own
	Bid   float64   // of its tasks: those that bid more are placed first
	Aged  float64   // what the first of its tasks bids, having waited; less than Bid counts as Bid

	done          int // tasks placed
	stale         bool
	at, next      int // nodes of the least and the second least completion; −1 if none
	first, second float64
	able          int     // nodes that can run it
	size          float64 // execution time on the node that is fastest for it, seconds
}

// Node is a node that tasks are mapped to.
type Node struct {
	Ready   float64 // time from now on until it starts a further task, seconds
	Slots   float64 // tasks that it runs at once
	Idle    float64 // slots on which nothing runs
	Cluster int     // nodes with the same number share the inputs that one of them has

	work float64 // slot-seconds that it was given, with those before
}

// Placement is a task's place.
type Placement struct {
	Kind, Node int
	Free       float64 // when the node has a slot for it, seconds from now on
	Start, End float64 // with its inputs there, seconds from now on
	Option     uint8   // of its job, as which it is to run; 0 = the node's
}

// Mapper is a heuristic.
type Mapper struct {
	Rule     Rule
	Clusters bool    // completion times are compared between clusters, and inputs are waited for
	Ageing   float64 // seconds by which a task's age counts; 0 = no ageing

	// Prefers reports whether node a takes the place of node b, whose completion time is equal; nth counts the equal
	// ones. nil = it does not.
	Prefers func(a, b, nth int) bool

	kinds   []Kind
	nodes   []Node
	between bool    // there are clusters to compare
	ranked  bool    // the kinds bid differently
	within  float64 // a kind whose next task would find a slot later is passed over, seconds from now on
}

// Map places the tasks of the kinds on the nodes and appends the placements, in the order in which they were made: on
// one node by their starts. It ends when all are placed that can be, when every node starts its next task after until,
// or after most placements with a slot by until. As many may have theirs later, which says who need not wait for whom;
// then what would wait longer holds nobody back. What it did stays in kinds and nodes.
func (m *Mapper) Map(kinds []Kind, nodes []Node, until float64, most int, dst []Placement) []Placement {
	m.kinds, m.nodes = kinds, nodes
	m.between = false
	for j := range nodes {
		nodes[j].begin()
		m.between = m.between || m.Clusters && nodes[j].Cluster != nodes[0].Cluster
	}
	m.ranked = false
	for i := range kinds {
		kinds[i].begin()
		m.ranked = m.ranked || kinds[i].Bid != kinds[0].Bid
	}
	m.within = math.Inf(1)
	for soon, later := 0, 0; soon < most; {
		i := m.pick()
		if i < 0 || !m.startsBy(until) {
			break
		}
		k := &kinds[i]
		start, j := k.first-k.Alone[k.at], k.at
		free := nodes[j].start()
		if free <= until {
			soon++
		} else if later++; later >= most {
			m.within = until
		}
		dst = append(dst, Placement{Kind: i, Node: j, Free: free, Start: start, End: k.first})
		k.done++
		nodes[j].give(k.Alone[j], start)
		m.changed(i, j)
	}
	return dst
}

// Left returns the number of tasks of a kind that Map did not place, and when the next of them would be done from what
// it knows at its end; +Inf if nobody can run it.
func (m *Mapper) Left(i int) (tasks int, end float64) {
	k := &m.kinds[i]
	if k.stale {
		m.weigh(k)
	}
	return k.Tasks - k.done, k.first
}

// Next is when the first node starts its next task, from now on, seconds; +Inf without nodes.
func (m *Mapper) Next() float64 {
	next := math.Inf(1)
	for j := range m.nodes {
		next = min(next, m.nodes[j].start())
	}
	return next
}

// startsBy reports whether some node starts its next task by then.
func (m *Mapper) startsBy(until float64) bool { return m.Next() <= until }

// pick returns the kind whose next task is to be placed; −1 if none can be.
func (m *Mapper) pick() int {
	best, most, highest := -1, priority{}, 0.0
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.done == k.Tasks {
			continue
		}
		if k.stale {
			m.weigh(k)
		}
		if k.at < 0 || m.nodes[k.at].start() > m.within {
			continue
		}
		bid := m.bid(k)
		if best >= 0 && bid < highest {
			continue
		}
		p := m.Rule(k, ageing(k.age(), m.Ageing))
		if best < 0 || bid > highest || p.above(most) || p == most && k.rank() < m.kinds[best].rank() {
			best, most, highest = i, p, bid
		}
	}
	return best
}

// changed says that a task of kind i was given to node j: completion times grow there, and its inputs come to j's
// cluster. A kind that looks at neither node keeps its best two.
func (m *Mapper) changed(i, j int) {
	if m.Clusters {
		m.bring(i, j)
	}
	for h := range m.kinds {
		k := &m.kinds[h]
		k.stale = k.stale || k.at == j || k.next == j || m.Clusters
	}
}

// weigh computes the node that would complete a task of the kind first, when, and when the second best would: another
// node, or the best of another cluster.
func (m *Mapper) weigh(k *Kind) {
	k.stale, k.at, k.next, k.first, k.second = false, -1, -1, math.Inf(1), math.Inf(1)
	ties := 0
	for j := range m.nodes {
		c := m.completion(k, j)
		same := k.at >= 0 && m.between && m.nodes[j].Cluster == m.nodes[k.at].Cluster
		switch {
		case !(c < math.Inf(1)): // cannot run it
		case c < k.first:
			if !same {
				k.next, k.second = k.at, k.first
			}
			k.at, k.first, ties = j, c, 1
		case c == k.first:
			if !same {
				k.next, k.second = j, c
			}
			if ties++; m.Prefers != nil && m.Prefers(j, k.at, ties) {
				if k.next == j {
					k.next = k.at
				}
				k.at = j
			}
		case c < k.second && !same:
			k.next, k.second = j, c
		}
	}
}

// completion is c_ij, seconds.
func (m *Mapper) completion(k *Kind, j int) float64 {
	start := m.nodes[j].start()
	if m.Clusters && k.Fetch != nil {
		start = max(start, k.Fetch[j])
	}
	return start + k.Alone[j]
}

// begin counts what does not change while tasks are placed.
func (k *Kind) begin() {
	k.done, k.stale, k.at, k.next, k.able, k.size = 0, true, -1, -1, 0, math.Inf(1)
	for _, e := range k.Alone {
		if e < math.Inf(1) {
			k.able, k.size = k.able+1, min(k.size, e)
		}
	}
}

// age is that of the next task, seconds.
func (k *Kind) age() float64 {
	if len(k.Ages) == 0 {
		return 0
	}
	return k.Ages[min(k.done, len(k.Ages)-1)]
}

func (k *Kind) rank() int {
	if k.Ranks == nil {
		return 0
	}
	return k.Ranks[k.done]
}

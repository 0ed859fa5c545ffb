package gangs

import (
	"slices"

	"skep/grid"
)

// late are the nodes that have failed rounds for later slots since ranks last ran. The next such rounds ask others,
// until these do not suffice: later slots are asked for at the same nodes, so long work at one of them, or silence,
// would fail one round after another.
type late struct{ nodes []lateNode }

type lateNode struct {
	node   grid.NodeID
	failed int
}

// maxLate is how often a node may refuse later slots since other gangs have or wait for them: where these follow each
// other is where a gang gets its turn. A node whose slots do not become free in time is left out at once, and one that
// does not answer is.
const maxLate = 16

// note records the refusals of a round, else who did not answer.
func (l *late) note(refused []Refusal, silent []grid.NodeID) {
	for _, r := range refused {
		if r.Why.Why == grid.WhyBusy {
			l.add(r.Node, maxLate)
		} else {
			l.add(r.Node, 1)
		}
	}
	if len(refused) == 0 {
		for _, id := range silent {
			l.add(id, maxLate)
		}
	}
}

func (l *late) add(id grid.NodeID, n int) {
	at := slices.IndexFunc(l.nodes, func(x lateNode) bool { return x.node == id })
	if at < 0 {
		at, l.nodes = len(l.nodes), append(l.nodes, lateNode{node: id})
	}
	l.nodes[at].failed += n
}

func (l *late) leavesOut(id grid.NodeID) bool {
	return slices.ContainsFunc(l.nodes, func(x lateNode) bool { return x.node == id && x.failed >= maxLate })
}

// choose has a chooser choose without the nodes that are left out. If the others do not suffice all have another
// chance.
func (l *late) choose(size Size, by Chooser, nodes []grid.GangNode, rooms []int) Choice {
	others := slices.Clone(rooms)
	for i := range nodes {
		if l.leavesOut(nodes[i].Node) {
			others[i] = 0
		}
	}
	if !slices.Equal(others, rooms) {
		if c := by.Choose(size, nodes, others); c.Places != nil {
			return c
		}
		l.nodes = nil
	}
	return by.Choose(size, nodes, rooms)
}

package decisions

import (
	"cmp"
	"slices"

	"skep/balance"
	"skep/grid"
)

// Candidates are nodes that a task could go to, as known without a poll: those that would be done soonest, and the
// soonest idle one. The zero value is none.
type Candidates struct {
	states []balance.State // by expected completion, at most grid.MaxConsidered
	more   int32           // further ones
}

// Reset forgets the candidates and keeps the buffer.
func (c *Candidates) Reset() { c.states, c.more = c.states[:0], 0 }

// Note notes the candidates of a decision, once: a second poll in the same decision leaves out nodes.
func (l *Log) Note(c *Candidates, nodes []balance.State) {
	if !l.Keeps() || len(c.states) > 0 || len(nodes) == 0 {
		return
	}
	if k := len(l.free); c.states == nil && k > 0 {
		c.states, l.free = l.free[k-1], l.free[:k-1]
	}
	idle := -1
	for i := range nodes {
		s := &nodes[i]
		if s.Ready <= 0 && (idle < 0 || s.ECT < nodes[idle].ECT) {
			idle = i
		}
		n := len(c.states)
		if n == grid.MaxConsidered && s.ECT >= c.states[n-1].ECT {
			continue
		}
		c.states = c.states[:min(n, grid.MaxConsidered-1)]
		at, _ := slices.BinarySearchFunc(c.states, s.ECT,
			func(s balance.State, ect float64) int { return cmp.Compare(s.ECT, ect) })
		c.states = slices.Insert(c.states, at, *s)
	}
	last := &c.states[len(c.states)-1]
	if c.more = int32(len(nodes) - len(c.states)); c.more > 0 && idle >= 0 && nodes[idle].ECT > last.ECT {
		*last = nodes[idle]
	}
}

// Release forgets the candidates and takes their buffer for other decisions.
func (l *Log) Release(c *Candidates) {
	if c.states != nil {
		l.free = append(l.free, c.states[:0])
	}
	*c = Candidates{}
}

// VerdictOf is why a policy's choice came out as it did; decisions of other kinds say so themselves.
func VerdictOf(c *Candidates, answers []balance.State, x *balance.Choice) grid.Verdict {
	switch {
	case len(answers) == 1 && len(c.states) <= 1 && c.more == 0:
		return grid.VerdictOnly
	case x.Tied > 1:
		return grid.VerdictNearTie
	case x.Tied == 1:
		return grid.VerdictEarliest
	}
	return grid.VerdictRule
}

// Record records a decision: what the nodes answered, and of the other candidates what was known before. weigh takes a
// state apart.
func (l *Log) Record(d grid.Decision, c *Candidates, answers []balance.State, chosen grid.NodeID,
	weigh func(s *balance.State) grid.Considered) {
	d.Nodes, d.More = l.draft.Nodes[:0], c.more
	add := func(s *balance.State) {
		n := weigh(s)
		n.Chosen = s.Node == chosen
		d.Nodes = append(d.Nodes, n)
	}
	for i := range answers {
		add(&answers[i])
	}
	for i := range c.states {
		id := c.states[i].Node
		if !slices.ContainsFunc(answers, func(a balance.State) bool { return a.Node == id }) {
			add(&c.states[i])
		}
	}
	slices.SortStableFunc(d.Nodes, func(a, b grid.Considered) int {
		switch {
		case a.Chosen:
			return -1
		case b.Chosen:
			return 1
		}
		return cmp.Compare(a.ECT()+a.Charged, b.ECT()+b.Charged)
	})
	if n := len(d.Nodes); n > grid.MaxConsidered {
		idle := slices.IndexFunc(d.Nodes, func(x grid.Considered) bool { return !x.Chosen && x.Idle() })
		if idle >= grid.MaxConsidered {
			d.Nodes[grid.MaxConsidered-1] = d.Nodes[idle]
		}
		d.Nodes, d.More = d.Nodes[:grid.MaxConsidered], d.More+int32(n-grid.MaxConsidered)
	}
	l.Add(&d)
	l.draft = d
}

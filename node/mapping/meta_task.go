package mapping

import (
	"math"
	"slices"

	"skep/balance"
	"skep/grid"
)

// Bounds of a meta-task: the highest bids, then the oldest are mapped first, and the others at later events.
const (
	MaxKinds     = 128  // jobs, and tasks that may go elsewhere than the others of their jobs
	MaxKindTasks = 1024 // of a kind
)

// MetaTask is the tasks that a policy maps together at an event: those that have come, and those mapped earlier that
// have not begun.
type MetaTask []Kind

// Kind is tasks of a job that may go to the same nodes.
type Kind struct {
	Job     grid.JobID
	Arrived grid.Time
	Spec    *grid.JobSpec
	Level   string // of the class that they are of
	Tasks   int
	Bid     grid.Bid        // as it counts where tasks are mapped together
	Aged    grid.Bid        // what the next task of the job bids, having waited
	View    []balance.State // nodes that they may go to, as known without a message, ordered by identity
}

// Size is the number of tasks.
func (t MetaTask) Size() (n int) {
	for i := range t {
		n += t[i].Tasks
	}
	return n
}

// HighestBid is that of a task, having waited.
func (t MetaTask) HighestBid() (bid grid.Bid) {
	for i := range t {
		bid = max(bid, t[i].Spec.Bid(), t[i].Aged)
	}
	return bid
}

// Nodes returns the nodes that some task may go to, ordered by identity.
func (t MetaTask) Nodes() (nodes []balance.State) {
	for i := range t {
		nodes = append(nodes, t[i].View...)
	}
	slices.SortStableFunc(nodes, func(a, b balance.State) int { return a.Node.Compare(b.Node) })
	return slices.CompactFunc(nodes, func(a, b balance.State) bool { return a.Node == b.Node })
}

// About returns the first kind that may go to a node.
func (t MetaTask) About(id grid.NodeID) *Kind {
	for i := range t {
		if t[i].State(id) != nil {
			return &t[i]
		}
	}
	panic("mapping: a node is asked that no task may go to")
}

// State is what is known of a node for tasks of the kind; nil = they may not go there.
func (k *Kind) State(id grid.NodeID) *balance.State {
	at, found := slices.BinarySearchFunc(k.View, id,
		func(s balance.State, id grid.NodeID) int { return s.Node.Compare(id) })
	if !found {
		return nil
	}
	return &k.View[at]
}

// known is what is known of a node that has answered, for tasks of the kind: its answer, if it was asked about such
// tasks; nil = they may not go there.
func (k *Kind) known(p *Poll, answer *balance.State) *balance.State {
	s := k.State(answer.Node)
	if s != nil && p.about(answer.Node, k) {
		return answer
	}
	return s
}

// weighed is what the policy has mapped the tasks of a kind by, whose job has options: what is known of the nodes that
// have answered, with what the policy has found the ways worth.
func (k *Kind) weighed(p *Poll, row *balance.Kind) (nodes []balance.State) {
	for n := range p.Answers {
		if s := k.known(p, &p.Answers[n]); s != nil {
			nodes = append(nodes, *s)
			nodes[len(nodes)-1].Ways = row.Ways[n]
		}
	}
	return nodes
}

// Rows is the table that the policy maps by: an answer says how soon a node is ready, and how long tasks of the class
// take that it was asked about; of others the view knows. When a kind's inputs are there the view knows of each: the
// answer may be about another job's. Tasks that begin after until, in seconds from now on, need no place; most bounds
// how many get one by then, and how many later.
func (t MetaTask) Rows(p *Poll, until float64, most int) *balance.MetaTask {
	in := &balance.MetaTask{Nodes: p.Answers, Until: until, Most: most}
	for i := range t {
		k := &t[i]
		row := balance.Kind{Job: k.Job, Arrived: k.Arrived, Tasks: k.Tasks, Bid: k.Bid,
			Pays: k.Spec.Bid(), Deadline: k.Spec.Rules.Deadline, Spend: k.Spec.Spend(),
			Cores: k.Spec.Needs.CPU.Cores(), Needs: &k.Spec.Needs}
		for n := range p.Answers {
			a := &p.Answers[n]
			alone, fetch := math.Inf(1), 0.0
			var ways []balance.Way
			if s := k.known(p, a); s != nil {
				alone, fetch, ways = max(s.ECT-s.Ready, 0), k.State(a.Node).Fetch, slices.Clone(s.Ways)
			}
			row.Alone, row.Fetch, row.Ways = append(row.Alone, alone), append(row.Fetch, fetch), append(row.Ways, ways)
		}
		if slices.Min(append(row.Alone, math.Inf(1))) < math.Inf(1) &&
			!slices.ContainsFunc(in.Kinds, func(o balance.Kind) bool { return o.Job == k.Job && o.Aged > 0 }) {
			row.Aged = k.Aged // one task of a job becomes urgent at a time: the first that an answer has a place for
		}
		in.Kinds = append(in.Kinds, row)
	}
	return in
}

package mapping

import (
	"math"
	"slices"
	"testing"

	"skep/balance"
	"skep/grid"
)

func id(k byte) grid.NodeID { return grid.NodeID{k} }

// states are of nodes that are ready after a time and take another, by number.
func states(ready, alone float64, nodes ...byte) (out []balance.State) {
	for _, k := range nodes {
		out = append(out, balance.State{Node: id(k), Ready: ready, ECT: ready + alone})
	}
	return out
}

// two is a meta-task of two kinds: three tasks of a that go to nodes 1 and 2, one of b to 2 and 3.
func two() MetaTask {
	spec := &grid.JobSpec{Class: "a"}
	job := func(k byte) grid.JobID { return grid.JobID{Nonce: [10]byte{k}} }
	return MetaTask{{Job: job(1), Arrived: 5, Spec: spec, Level: "a", Tasks: 3, View: states(1, 4, 1, 2)},
		{Job: job(2), Arrived: 6, Spec: spec, Level: "b", Tasks: 1, View: states(1, 7, 2, 3)}}
}

// A meta-task's nodes are those of its kinds, each once; of a node it knows a kind that may go there.
func TestNodesOfAMetaTask(t *testing.T) {
	m := two()
	var nodes []grid.NodeID
	for _, s := range m.Nodes() {
		nodes = append(nodes, s.Node)
	}
	if !slices.Equal(nodes, []grid.NodeID{id(1), id(2), id(3)}) || m.Size() != 4 {
		t.Errorf("nodes %v, %d tasks; want 1, 2, 3 and 4 tasks", nodes, m.Size())
	}
	if m.About(id(2)) != &m[0] || m.About(id(3)) != &m[1] {
		t.Error("node 2 is not asked about the first kind, or node 3 not about the only one that may go there")
	}
	if m[0].State(id(3)) != nil || m[1].State(id(3)).ECT != 8 {
		t.Error("kind a may go to node 3, or what is known of that is not found")
	}
}

// An answer tells when a node is ready, for all kinds, and the execution time of the kind that it was asked about. That
// of others is as the view has it, and none where they may not go.
func TestTableOfAMetaTask(t *testing.T) {
	m := two()
	var p Poll
	p.begin(0)
	for _, k := range []byte{1, 2, 3} {
		var q grid.Poll
		p.Ask(id(k), 9, m.About(id(k)), &q)
	}
	p.Answers = append(states(10, 2, 1, 2), states(20, 3, 3)...)
	p.Answers[1].Fetch = 5 // of the job that it was asked about
	m[0].View[1].Fetch, m[1].View[0].Fetch = 6, 7
	budgeted := *m[0].Spec
	budgeted.Count, budgeted.Rules.Budget = 4, 10
	m[0].Spec = &budgeted
	table := m.Rows(&p, 30, 100)
	if a, b := table.Kinds[0].Spend, table.Kinds[1].Spend; a != 2.5 || b != 0 {
		t.Errorf("a budget of 10 s for 4 tasks, and none, pay for %g and %g s a task", a, b)
	}
	inf := math.Inf(1)
	for i, want := range [][]float64{{2, 2, inf}, {inf, 7, 3}} {
		if !slices.Equal(table.Kinds[i].Alone, want) {
			t.Errorf("kind %d takes %v, want %v", i, table.Kinds[i].Alone, want)
		}
	}
	for i, want := range [][]float64{{0, 6, 0}, {0, 7, 0}} {
		if f := table.Kinds[i].Fetch; !slices.Equal(f, want) {
			t.Errorf("the inputs of kind %d are there after %v, want %v", i, f, want)
		}
	}
	if table.Nodes[2].Ready != 20 || table.Until != 30 || table.Kinds[0].Tasks != 3 || table.Kinds[1].Arrived != 6 {
		t.Errorf("table %+v: want nodes as they answer, and kinds as they are", table)
	}
}

// An answer counts once, to the poll under way, and of who was asked.
func TestAnswersCountOnce(t *testing.T) {
	m := two()
	var p Poll
	p.begin(0)
	var first, again grid.Poll
	p.Ask(id(1), 9, &m[0], &first)
	p.Ask(id(3), 9, &m[1], &first)
	if first.ID>>8 != 9 {
		t.Errorf("the question is of handle %d, want 9", first.ID>>8)
	}
	if !p.Unasked(id(2), first.ID) || p.Unasked(id(1), first.ID) {
		t.Error("node 2 was asked, or node 1 was not")
	}
	if _, level, ok := p.Answered(id(3), first.ID); !ok || level != "b" || p.Complete() {
		t.Errorf("the answer of node 3 is about %q and counts: %v; want b, and that of node 1 awaited", level, ok)
	}
	if _, _, ok := p.Answered(id(3), first.ID); ok {
		t.Error("a second answer counts")
	}
	if _, _, ok := p.Answered(id(1), first.ID); !ok || !p.Complete() {
		t.Error("the last answer does not complete the poll")
	}
	p.begin(1)
	p.Ask(id(1), 9, &m[0], &again)
	if _, _, ok := p.Answered(id(1), first.ID); ok || p.Complete() {
		t.Error("an answer to an earlier poll counts")
	}
	if p.Unasked(id(2), first.ID) {
		t.Error("a late answer counts as unasked")
	}
}

func TestConfigIsChecked(t *testing.T) {
	c := Defaults()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []Config{{}, {MappingInterval: 2 * 3600e9}, {MappingInterval: 1e9, MappingCount: -1}} {
		if c.Check() == nil {
			t.Errorf("%+v passes", c)
		}
	}
}

// The table has the bids of the kinds; of a job one task bids more for having waited, though it is of several kinds.
func TestOneTaskOfAJobIsUrgent(t *testing.T) {
	m := two()
	m = append(m, m[0])
	for i := range m {
		m[i].Bid, m[i].Aged = grid.Bid(i+1), 9
	}
	p := Poll{Answers: states(10, 2, 1, 2)}
	kinds := m.Rows(&p, 30, 100).Kinds
	for i, want := range []balance.Kind{{Bid: 1, Aged: 9}, {Bid: 2, Aged: 9}, {Bid: 3}} {
		if kinds[i].Bid != want.Bid || kinds[i].Aged != want.Aged {
			t.Errorf("kind %d bids %v, its next task %v; want %v, %v", i, kinds[i].Bid, kinds[i].Aged, want.Bid, want.Aged)
		}
	}
	m[0].View = states(1, 4, 3) // which has not answered
	if kinds = m.Rows(&p, 30, 100).Kinds; kinds[0].Aged != 0 || kinds[2].Aged != 9 {
		t.Errorf("of a job bid %v, which nobody may run, and %v; want the other one to be urgent", kinds[0].Aged,
			kinds[2].Aged)
	}
}

// Options are of a job: an answer about those of one says nothing of another's, though their tasks are of one class.
func TestAnswersAboutOptionsAreOfTheirJob(t *testing.T) {
	of := func(alone float64) []balance.State {
		all := states(0, alone, 1)
		all[0].Ways = []balance.Way{{Option: 1, ECT: alone}}
		return all
	}
	m := MetaTask{}
	for k := range 2 {
		spec := &grid.JobSpec{Class: "a"}
		spec.Needs.SetOptions([]grid.Option{{Resources: grid.Resources{CPU: grid.CPU}, Speedup: 1, Value: 1}})
		m = append(m, Kind{Job: grid.JobID{Nonce: [10]byte{byte(k)}}, Spec: spec, Level: "a", Tasks: 1, View: of(4)})
	}
	var p Poll
	p.begin(0)
	p.Ask(id(1), 9, &m[0], &grid.Poll{})
	p.Answers = of(2)
	rows := m.Rows(&p, 30, 100)
	for k, want := range []float64{2, 4} {
		if x := rows.Kinds[k]; x.Alone[0] != want || x.Ways[0][0].ECT != want {
			t.Errorf("job %d takes %v, its option %v: want %g", k, x.Alone, x.Ways, want)
		}
		rows.Kinds[k].Ways[0][0].Judged = true
		if w := m[k].weighed(&p, &rows.Kinds[k])[0].Ways[0]; w.ECT != want || !w.Judged {
			t.Errorf("job %d was mapped by %+v: want %g and what the policy has noted", k, w, want)
		}
	}
	if p.Answers[0].Ways[0].Judged {
		t.Error("what a policy notes of one job is in the answer")
	}
}

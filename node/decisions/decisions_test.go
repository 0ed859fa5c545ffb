package decisions

import (
	"reflect"
	"testing"
	"time"

	"skep/balance"
	"skep/grid"
)

func decision(index uint32, nodes int) grid.Decision {
	d := grid.Decision{Task: grid.TaskID{Job: grid.JobID{Origin: grid.NodeID{1}, Nonce: [10]byte{2}}, Index: index},
		At: grid.Time(index) * 1e9, Why: grid.VerdictNearTie, Tied: 3, Nodes: []grid.Considered{}, More: 7}
	for k := range nodes {
		d.Nodes = append(d.Nodes, grid.Considered{Node: grid.NodeID{3, byte(k)}, Ready: time.Duration(k) * time.Second,
			Run: time.Minute, Move: 3 * time.Microsecond, Charged: time.Hour, News: time.Millisecond, Basis: grid.BasisAd,
			Results: 12, Asked: k == 1, Chosen: k == 0, Price: grid.Bid(1500 * (k % 2)), Option: uint8(k % 3)})
		for o := range k % 3 {
			x := grid.WeighedOption{Number: uint8(o + 1), Ready: time.Second, ECT: time.Minute, Judged: o == 0}
			if x.Judged {
				x.Utility, x.Price, x.Worth = 0.1, 0.3, 7e17
			}
			d.Nodes[k].Options = append(d.Nodes[k].Options, x)
		}
	}
	return d
}

// A decision comes back as it was, to the microsecond, and only for its job and tasks.
func TestDecisionsComeBack(t *testing.T) {
	l := New(1 << 16)
	for i := range uint32(4) {
		d := decision(i, int(i))
		l.Add(&d)
	}
	priced := decision(1, 1)
	priced.Why, priced.Prices = grid.VerdictPriced, &grid.Prices{CPU: 0.7, Worth: 3, Offers: 4,
		Left:    grid.Resources{CPU: 5 * grid.CPU, Memory: grid.GiB, Counts: "fpga=2,gpu=1"},
		Counted: []grid.UnitPrice{{Kind: "fpga", Price: 0.1}, {Kind: "gpu", Price: 8}}}
	l.Add(&priced)
	want := []grid.Decision{decision(1, 1), decision(2, 2), priced}
	job := want[0].Task.Job
	if got := l.Of(job, 1, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	job.Nonce[9]++
	if got := l.Of(job, 0, 10); got != nil {
		t.Errorf("another job has the decisions %+v", got)
	}
}

// The log is bounded: the oldest decisions go first, and memory does not grow with their number.
func TestLogIsBounded(t *testing.T) {
	const limit = 4096
	l := New(limit)
	for i := range uint32(1000) {
		d := decision(i, int(i)%grid.MaxConsidered)
		l.Add(&d)
		all := l.Of(d.Task.Job, 0, 1000)
		if last := all[len(all)-1]; !reflect.DeepEqual(last, d) {
			t.Fatalf("the newest is %+v, want %+v", last, d)
		}
		for k := range all[1:] {
			if all[k+1].Task.Index != all[k].Task.Index+1 {
				t.Fatalf("%d follows %d", all[k+1].Task.Index, all[k].Task.Index)
			}
		}
	}
	if held := len(l.entries) - l.head; held > limit || held < limit/2 || cap(l.entries) > 4*limit {
		t.Errorf("%d bytes in %d, want at most %d", held, cap(l.entries), limit)
	}
	d, none, c := decision(1, 4), New(0), Candidates{}
	none.Note(&c, []balance.State{{Node: grid.NodeID{1}}})
	if none.Release(&c); none.Keeps() || none.Of(d.Task.Job, 0, 10) != nil {
		t.Error("a log without room keeps something")
	}
}

// Of many candidates those soonest done are kept, and the soonest idle one, which explains why a task waits elsewhere.
func TestSoonestAndIdleCandidatesAreKept(t *testing.T) {
	var nodes []balance.State
	for k := range 40 {
		nodes = append(nodes, balance.State{Node: grid.NodeID{byte(k + 1)}, Ready: 1, ECT: float64(100 - k)})
	}
	nodes[3].Ready, nodes[5].Ready = 0, 0 // 97 s and 95 s: both later than all that are kept
	l, c := New(1<<16), Candidates{}
	l.Note(&c, nodes)
	d := decision(0, 0)
	answers := []balance.State{{Node: grid.NodeID{40}, Ready: 2, ECT: 70}}
	l.Record(d, &c, answers, grid.NodeID{40}, func(s *balance.State) grid.Considered {
		return grid.Considered{Node: s.Node, Ready: grid.Seconds(s.Ready), Run: grid.Seconds(s.ECT - s.Ready)}
	})
	got := l.Of(d.Task.Job, 0, 1)[0]
	if len(got.Nodes) != grid.MaxConsidered || got.More != 40-grid.MaxConsidered {
		t.Fatalf("%d nodes and %d more", len(got.Nodes), got.More)
	}
	if first := got.Nodes[0]; !first.Chosen || first.ECT() != 70*time.Second || got.Nodes[1].ECT() != 62*time.Second {
		t.Errorf("first %+v, then %+v: want the chosen one with its answer, then the soonest", first, got.Nodes[1])
	}
	if last := got.Nodes[grid.MaxConsidered-1]; last.Node != (grid.NodeID{6}) || !last.Idle() {
		t.Errorf("last %+v: want the soonest idle node", last)
	}
}

func TestVerdicts(t *testing.T) {
	one, two := Candidates{states: make([]balance.State, 1)}, Candidates{states: make([]balance.State, 2)}
	for _, x := range []struct {
		c       *Candidates
		answers int
		tied    int32
		want    grid.Verdict
	}{
		{&one, 1, 1, grid.VerdictOnly},
		{&two, 1, 1, grid.VerdictEarliest}, // the others were not asked
		{&two, 2, 1, grid.VerdictEarliest},
		{&two, 2, 2, grid.VerdictNearTie},
		{&two, 2, 0, grid.VerdictRule},
	} {
		if got := VerdictOf(x.c, make([]balance.State, x.answers), &balance.Choice{Tied: x.tied}); got != x.want {
			t.Errorf("%d candidates, %d answers, %d tied: %v, want %v", len(x.c.states), x.answers, x.tied, got, x.want)
		}
	}
}

package queueing

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Tasks whose only machine is down for long are not tried one by one whenever another machine comes or goes: that
// took time with the square of their number. They wait in order, and none is lost.
func TestManyTasksWaitForAMachine(t *testing.T) {
	s := &System{Classes: []string{"a", "b"}, Machines: []Line{{}, {}}, Mu: [][]float64{{100, 0}, {0, 100}},
		Alpha: []float64{10, 1},
		Failures: []Failures{{Rate: 1e-3, MeanFault: 500, Up: Distribution{Kind: Deterministic},
			Down: Distribution{Kind: Deterministic}}, {Rate: 2, MeanFault: 0.1}}}
	r, err := Run(t.Context(), s, Options{Policies: []string{"mct", "met", "fcfs"}, Time: 3000, Replications: 1, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	mct, met, fcfs := r.Results[0], r.Results[1], r.Results[2]
	if m := mct.Messages.All; m > 5 {
		t.Errorf("%.1f messages a task: want 2 or 4 each, and as many for a few that are tried again", float64(m))
	}
	if mct.W.Mean < 10 || !near(mct.W.Mean, float64(fcfs.W.Mean), 1e-9) || !near(met.W.Mean, float64(fcfs.W.Mean), 1e-9) ||
		mct.Tasks != fcfs.Tasks {
		t.Errorf("W %g of %d tasks by mct, %g by met, %g of %d by fcfs: want all the same, since each class has one machine",
			float64(mct.W.Mean), mct.Tasks, float64(met.W.Mean), float64(fcfs.W.Mean), fcfs.Tasks)
	}
}

// What is held is held in order of arrival, whatever the order in which it came back from machines that were asked
// with a delay.
func TestHeldInOrderOfArrival(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		p, e := &push{}, &engine{n: 1}
		var want []task
		for k := range 60 {
			x := task{since: float64(r.IntN(40)), size: float64(k)}
			p.hold(e, x, 0)
			want = append(want, x)
			slices.SortStableFunc(want, func(a, b task) int { return cmp.Compare(a.since, b.since) })
			if r.IntN(3) == 0 { // so that the ring's begin moves
				if got := p.held.groups[0].tasks.pop(); got != want[0] {
					t.Fatalf("round %d: first is %v, want %v", round, got, want[0])
				}
				want = want[1:]
			}
		}
		for _, w := range want {
			if got := p.held.groups[0].tasks.pop(); got != w {
				t.Fatalf("round %d: next is %v, want %v", round, got, w)
			}
		}
	}
}

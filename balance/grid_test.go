package balance

import (
	"fmt"
	"testing"

	"skep/grid"
)

// nodeID names nodes of the tests: their order is that of their numbers.
func nodeID(j int) grid.NodeID { return grid.NodeID{byte((j + 1) >> 8), byte(j + 1)} }

func className(i int) string { return fmt.Sprintf("class%d", i+1) }

// world is a set of rates as the printed matrices have them: classes by machines.
type world struct {
	alpha, mu [][]float64
	slots     []float64
}

// column is what a node says of its rates.
func (w *world) column(j int) Outcome {
	o := Outcome{Kind: Rates, Node: nodeID(j), Slots: 1}
	if w.slots != nil {
		o.Slots = w.slots[j]
	}
	for i := range w.mu {
		o.Rates = append(o.Rates, grid.Rate{Class: className(i), Alpha: w.alpha[i][j], Mu: w.mu[i][j]})
	}
	return o
}

func (w *world) machines() int { return len(w.mu[0]) }

// tell makes the whole world known.
func (w *world) tell(p Policy) {
	for j := range w.machines() {
		p.Note(w.column(j))
	}
}

// view is everybody, idle.
func (w *world) view(self, class int) View {
	v := View{Self: nodeID(self)}
	for j := range w.machines() {
		v.Nodes = append(v.Nodes, State{Node: nodeID(j), ECT: 1 / w.mu[class][j]})
	}
	return v
}

func task(class int) *grid.Task { return &grid.Task{Class: className(class)} }

func mustMake(t testing.TB, name string, c Config, seed uint64) Policy {
	t.Helper()
	p, err := Make(name, &c, grid.NewRand(seed, 1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// polled returns the numbers of the machines that a policy asks, ascending from 1 as the thesis counts.
func polled(p Policy, v View, class int) []int {
	ids := p.Poll(0, task(class), v, nil)
	var out []int
	for j := range 1000 {
		for _, id := range ids {
			if id == nodeID(j) {
				out = append(out, j+1)
			}
		}
	}
	return out
}

// even spreads arrival rates of classes over machines.
func even(alpha []float64, machines int) [][]float64 {
	var out [][]float64
	for _, a := range alpha {
		row := make([]float64, machines)
		for j := range row {
			row[j] = a / float64(machines)
		}
		out = append(out, row)
	}
	return out
}

// system4A is System 4.A of [1, section 4.3.1].
func system4A() *world {
	return &world{
		alpha: [][]float64{
			{2, 1.5, 1.75, 1, 3, 1.9, 1.35},
			{1.35, 1.5, 2.4, 1.55, 2.9, 0.75, 1.55},
			{4, 2.75, 1, 1.35, 1.5, 0.9, 1},
			{2, 1.75, 2, 1.5, 2.25, 1.75, 0.75},
		},
		mu: [][]float64{
			{4.5, 2, 9.5, 6.2, 10.25, 2.25, 3.95},
			{6.2, 4.5, 6, 2, 4.2, 5.9, 10.25},
			{9.5, 6.5, 4, 10, 5.9, 2.25, 3.95},
			{2.25, 10, 2, 3.95, 1.75, 10, 1.75},
		},
	}
}

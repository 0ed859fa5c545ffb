package queueing

import (
	"context"
	"strings"
	"testing"
)

// Two machines are equal for the one class and only the second can run the other: where ties go to the first machine,
// the other class finds its own idle more often.
func TestTiesToTheLowest(t *testing.T) {
	const file = `
name: ties
classes: [any, second]
machines: [{name: a}, {name: b}]
mu: [[1, 1], [0, 1]]
alpha: [0.4, 0.2]
service: deterministic
`
	w := map[string]float64{}
	for _, ties := range []string{"", "ties: lowest\n"} {
		s, err := Read("ties.yaml", []byte(file+ties))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), s, Options{Policies: []string{"mct"}, Time: 5000, Replications: 2, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w[ties] = float64(r.Results[0].ByClass[1].Mean)
	}
	if lowest, random := w["ties: lowest\n"], w[""]; !(lowest < 0.95*random) {
		t.Errorf("W of the second class is %.3f with ties to the lowest and %.3f at random: want it lower", lowest, random)
	}
	_, err := Read("ties.yaml", []byte(file+"ties: highest\n"))
	if err == nil || !strings.Contains(err.Error(), "want lowest") {
		t.Errorf("ties: highest: %v, want an error", err)
	}
}

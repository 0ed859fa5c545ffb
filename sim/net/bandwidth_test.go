package net

import "testing"

// Gangs whose input files have shown which nodes have fast links run on these: of nodes that are equal otherwise the
// slow ones are taken only until a file went there.
func TestGangsTakeMeasuredLinks(t *testing.T) {
	took := map[string]float64{}
	for _, files := range []string{"1MiB", "1KiB"} { // of the second size nothing is measured
		text := "replications: 4\ntime: 20m\nwarmup: 5m\nclasses: {j: {inputs: " + files + "}}\n" +
			"nodes: [{name: front, cpus: 0.5}, {name: slow, count: 3, ranks: 200KiB}, {name: fast, count: 3}]\n" +
			"network: {latency: 1ms, mesh: true}\n" +
			"workload: [{class: j, rate: 0.02, from: front, gang: {ranks: 2, iterations: 100, model: {name: life, n: 1600}}}]\n"
		r := ran(t, comparable(t, text))
		if g := r.Gangs[0]; g.Gangs < 20 {
			t.Fatalf("%+v: want some gangs", g)
		}
		took[files] = r.Gangs[0].Iteration.Mean
	}
	if !(took["1MiB"] < 0.9*took["1KiB"]) {
		t.Errorf("%v s an iteration by size of their files: want less where links are measured", took)
	}
}

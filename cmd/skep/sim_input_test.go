package main

import (
	"fmt"
	"strings"
	"testing"
)

// The flags of sim queue are checked together with its file.
func TestSimQueueReportsAllProblems(t *testing.T) {
	name := scenario(t, "classes: [a]\nmachines: [{}]\nmu: [[1]]\nalpha: [2]\n")
	code, _, errs := cli(t, "sim", "queue", name, "--policy", "mct,best", "--warmup", "-1", "--replications", "0")
	for _, want := range []string{"s.yaml:4: alpha: cannot be stable", `policy "best": is not known`, "warmup -1",
		"replications 0"} {
		if code != 1 || !strings.Contains(errs, want) {
			t.Errorf("exit %d, does not say %q:\n%s", code, want, errs)
		}
	}
}

// An error that follows from another one is not reported.
func TestFollowingErrorsAreNotReported(t *testing.T) {
	name := scenario(t, "classes: [a]\nmachines: [{}]\nmu: [[1]]\nalpha: [0.5]\nservice: {weibul: {shape: 0.6}}\n")
	code, _, errs := cli(t, "sim", "queue", name, "--time", "0")
	if code != 1 || !strings.Contains(errs, `unknown key "weibul"`) || !strings.Contains(errs, "time 0: want") ||
		strings.Contains(errs, "0 distributions") || strings.Contains(errs, "warmup") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A scenario with knobs that have no effect any more runs, and one line lists them.
func TestObsoleteKnobsOfAScenario(t *testing.T) {
	name := scenario(t,
		"start: 1s\nwarmup: 2s\ntime: 5s\nclasses: {a: {mean: 1s}}\nworkload: [{class: a, rate: 1}]\nnodes: [{count: "+
			"4}]\nnode: {keep: x}\ngossip: {theta: 0.2}\n")
	code, _, errs := cli(t, "sim", "net", name)
	if want := "skep: these settings have no effect any more, remove them: node.keep, gossip.theta\n"; code != 0 ||
		errs != want {
		t.Errorf("exit %d: %q, want %q", code, errs, want)
	}
}

// Of a thousand errors the first hundred are reported and the others counted.
func TestManyErrorsAreCounted(t *testing.T) {
	name := scenario(t, "classes: {a: {mean: 1s}}\nworkload: [{class: a, rate: 0.5}]\nnodes:\n"+strings.Repeat("- x\n",
		1000))
	code, _, errs := cli(t, "sim", "net", name)
	if code != 1 || !strings.Contains(errs, "s.yaml:103:3: nodes: want keys and values") ||
		strings.Contains(errs, "s.yaml:104:") || !strings.Contains(errs, "s.yaml: and 900 more problems") {
		t.Errorf("exit %d: %s", code, errs)
	}
	name = scenario(t, "machines: [{}]\nmu: [[1]]\nalpha: [0.5]\nclasses:\n"+strings.Repeat("- []\n", 1000))
	code, _, errs = cli(t, "sim", "queue", name)
	if code != 1 || !strings.Contains(errs, "s.yaml:102: classes[97]: want a single value") ||
		strings.Contains(errs, "s.yaml:103:") || !strings.Contains(errs, "s.yaml: and 902 more problems") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Every verb rejects files that are nested too deeply, have too many keys, or repeat a key.
func TestYAMLOfAnyShape(t *testing.T) {
	t.Parallel()
	var keys strings.Builder
	for k := range 100_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", k)
	}
	many := scenario(t, keys.String())
	deep := scenario(t, "nodes: "+strings.Repeat("[", 500_000))
	twice := scenario(t,
		"nodes: [{count: 1}]\nnodes: [{count: 2}]\nclasses: {a: {mean: 1s, mean: -2s}}\nworkload: [{class: q, rate: 1, "+
			"rate: 2}]\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"sim", "net", deep}, []string{"s.yaml:1:107: nested more than 100 deep: want"}},
		{[]string{"sim", "net", many}, []string{"s.yaml:1025:1: more than 1024 keys in one mapping: want fewer"}},
		{[]string{"sim", "queue", many}, []string{"s.yaml:1025: more than 1024 keys in one mapping: want fewer"}},
		{[]string{"job", "submit", many}, []string{"s.yaml:1025:1: more than 1024 keys in one mapping: want fewer"}},
		{[]string{"testnet", "up", "--spec", many},
			[]string{"s.yaml:1025:1: more than 1024 keys in one mapping: want fewer"}},
		{[]string{"sim", "queue", deep}, []string{"s.yaml:1: nested more than 100 deep: want"}},
		{[]string{"sim", "net", twice}, []string{`s.yaml:2:1: key "nodes" stands twice`,
			`s.yaml:3:25: key "mean" stands twice`, `s.yaml:4:32: key "rate" stands twice`, `class "q": is not among`}},
	} {
		code, _, errs := cli(t, c.args...)
		for _, want := range c.want {
			if code != 1 || !strings.Contains(errs, want) {
				t.Errorf("%v: exit %d, does not say %q:\n%.2000s", c.args[:2], code, want, errs)
			}
		}
	}
}

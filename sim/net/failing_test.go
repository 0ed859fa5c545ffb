package net

import (
	"os"
	"strings"
	"testing"
)

// Of tasks of which each attempt fails with a chance of a half, those with three retries fail with one of 1/16; the
// others with 1/2.
func TestFailingTasksAreRunAgain(t *testing.T) {
	const text = "time: 2m\nwarmup: 1s\nreplications: 1\nclasses:\n" +
		"  a: {mean: 100ms, fails: 0.5, on_failure: {retry: 3, backoff: 100ms}}\n  b: {mean: 100ms, fails: 0.5}\n" +
		"nodes: [{count: 4, cpus: 4}]\nworkload: [{class: a, rate: 10}, {class: b, rate: 10}]\n"
	s, _, err := ParseScenario("s.yaml", []byte(text), os.ReadFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	most := float64(r.Tasks) / 2
	if failed, want := float64(r.Failed), most*(1./16+1./2); failed < 0.85*want || failed > 1.15*want {
		t.Errorf("%d of %d tasks failed: want about %.0f", r.Failed, r.Tasks, want)
	}
	if again, want := float64(r.Again), most*(1./2+1./4+1./8); again < 0.85*want || again > 1.15*want {
		t.Errorf("%d attempts beyond the first: want about %.0f", r.Again, want)
	}
	_, _, err = ParseScenario("s.yaml", []byte(strings.Replace(text, "retry: 3, ", "", 1)), os.ReadFile, nil)
	if err == nil || !strings.Contains(err.Error(), "s.yaml:5:") || !strings.Contains(err.Error(), "retry 0") {
		t.Errorf("a rule without retry: %v", err)
	}
}

package v1

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What another member states of its job is cleaned; what is run stays exact, so that it can be run again.
func TestPrintable(t *testing.T) {
	const odd = "a\u202eb\u009bc\nd"
	now := time.Now()
	d := &Explanation{
		Job: Job{Name: odd, Command: []string{odd}, Done: &now, Members: []string{odd},
			Spec: &Spec{Name: odd, Env: map[string]string{"X": odd},
				Needs: Needs{Labels: map[string][]string{odd: {odd}}}, Inputs: []File{{Path: odd}}}},
		Tasks: []TaskStory{{Task: Task{Waits: &Refusal{Detail: odd},
			Result: &Result{Error: odd, Outputs: []File{{Path: odd}}}}, Steps: []Step{{Detail: odd, At: now}}}},
		Nodes: []Fitness{{Name: odd}},
	}
	Printable(d)
	if d.Job.Command[0] != odd || d.Job.Spec.Env["X"] != odd || !d.Job.Done.Equal(now) {
		t.Errorf("what is run has become %q, %q", d.Job.Command, d.Job.Spec.Env)
	}
	d.Job.Command, d.Job.Spec.Env = nil, nil
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(b); strings.ContainsAny(s, "\u202e\u009b") || strings.Contains(s, `\n`) ||
		strings.Count(s, "a?b?c d") != 11 {
		t.Errorf("%d texts are clean: want 11 in %s", strings.Count(s, "a?b?c d"), s)
	}
	p := &Problem{Detail: odd, Errors: []ProblemDetail{{Message: odd}}}
	Printable(p)
	if p.Error() != "a?b?c d\n  a?b?c d" {
		t.Errorf("%q", p.Error())
	}
	Printable(&Job{})
}

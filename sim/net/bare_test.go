package net

import (
	"context"
	"testing"
)

// A scenario without digest and checks measures the same.
func TestScenarioWithoutDigestAndChecks(t *testing.T) {
	s := small()
	s.Replications = 1
	with, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := "digest: false\nchecks: false\nclasses:\n  a: {mean: 1s}\nnodes:\n  - {count: 2}\nworkload:\n" +
		"  - {class: a, rate: 0.1}\n"
	read, _, err := ParseScenario("s.yaml", []byte(text), nil, nil)
	if err != nil || !read.NoDigest || !read.Unchecked {
		t.Fatalf("%v, no digest %v, unchecked %v", err, read.NoDigest, read.Unchecked)
	}
	s.NoDigest, s.Unchecked = read.NoDigest, read.Unchecked
	without, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if without.Digest != "off" || without.Steps != with.Steps || without.Completion != with.Completion ||
		without.Tasks != without.Ended {
		t.Errorf("digest %s, %d steps, completion %v; with digest and checks %d, %v", without.Digest, without.Steps,
			without.Completion, with.Steps, with.Completion)
	}
}

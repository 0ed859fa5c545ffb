package p2p

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"skep/grid"
)

// A job's origin signs it, in its own name whatever it was given; workers check that, all tasks share one spec, and
// the records of both have the seal.
func TestJobsAreSignedByTheirOrigin(t *testing.T) {
	a, b := openPair(t)
	spec := sh("exit 0")
	spec.Count, spec.Submitter = 3, grid.Submitter{Node: b.self, User: "ada"}
	if err := a.Submit(context.Background(), a.job(1), spec); err != nil {
		t.Fatal(err)
	}
	var seen []*grid.JobSpec
	for i := range spec.Count {
		offer := func(ev *grid.Event) bool { return ev.Msg.Kind == grid.KindOffer && ev.Msg.Offer.ID.Task.Index == i }
		await(t, "an offer", func() bool { _, ok := b.fake.find(grid.EvMessage, offer); return ok })
		ev, _ := b.fake.find(grid.EvMessage, offer)
		seen = append(seen, ev.Msg.Offer.Spec)
	}
	want := grid.Submitter{Node: a.self, User: "ada"}
	if s := seen[0]; s.Sealed == "" || s.Submitter != want || s != seen[1] || s != seen[2] {
		t.Errorf("offered: %+v, signed %t; one spec %t: want %+v", s.Submitter, s.Sealed != "", s == seen[1] && s == seen[2], want)
	}
	a.result(grid.TaskID{Job: a.job(1)})
	dir := a.cfg.DataDir
	a.close()
	again := openMember(t, dir, nil)
	for i := range again.fake.old {
		if r := &again.fake.old[i]; r.Kind == grid.RecJob && (r.Job.Spec.Sealed != seen[0].Sealed || r.Job.Spec.Submitter != want) {
			t.Errorf("record: %+v", r.Job.Spec)
		}
	}
}

// A checked spec does not vouch for another one with the same job's ID.
func TestOtherSpecOfAKnownJobIsChecked(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	first, err := a.sealSpec(a.job(1), sh("exit 1"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.sealSpec(a.job(1), sh("exit 22"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*grid.JobSpec{first, second, first, second} {
		got, err := a.specs.open(a.job(1), []byte(s.Sealed))
		if err != nil || got.Command[2] != s.Command[2] {
			t.Errorf("%+v, %v: want %q", got, err, s.Command)
		}
	}
	if _, err := a.specs.open(a.job(1), []byte(strings.Replace(first.Sealed, "exit 1", "exit 9", 1))); err == nil {
		t.Error("a spec that the origin did not sign passes, since another of the job has")
	}
	if _, err := a.specs.open(a.job(2), []byte(first.Sealed)); err == nil {
		t.Error("a spec passes for another job")
	}
	if a.specs.bytes != len(second.Sealed) {
		t.Errorf("%d bytes are counted: want %d", a.specs.bytes, len(second.Sealed))
	}
}

// The remembered specs are bounded in bytes.
func TestSpecCacheIsBounded(t *testing.T) {
	a := openMember(t, filepath.Join(t.TempDir(), "a"), nil)
	spec := sh("exit 0")
	spec.Env = []grid.Var{{Name: "A", Value: strings.Repeat("x", 30_000)}}
	for i := range 300 {
		id := a.job(byte(i))
		id.Nonce[1] = byte(i >> 8)
		s, err := a.sealSpec(id, spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.specs.open(id, []byte(s.Sealed)); err != nil {
			t.Fatal(err)
		}
		if a.specs.bytes > maxSpecsBytes {
			t.Fatalf("%d bytes after %d jobs: want at most %d", a.specs.bytes, i+1, maxSpecsBytes)
		}
	}
	sum := 0
	for _, s := range a.specs.known.Values() {
		sum += len(s.Sealed)
	}
	if sum != a.specs.bytes || sum < maxSpecsBytes/2 {
		t.Errorf("%d bytes are kept and %d counted: want the same, and most of %d", sum, a.specs.bytes, maxSpecsBytes)
	}
}

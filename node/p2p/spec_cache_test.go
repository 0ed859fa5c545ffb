package p2p

import (
	"context"
	"testing"

	"skep/grid"
	"skep/node/p2p/internal/rig"
)

// A job's origin signs it, in its own name whatever it was given; workers check that, all tasks share one spec, and
// the records of both have the seal.
func TestJobsAreSignedByTheirOrigin(t *testing.T) {
	a, b := openPair(t)
	spec := rig.Sh("exit 0")
	spec.Count, spec.Submitter = 3, grid.Submitter{Node: b.self, User: "ada"}
	if err := a.Submit(context.Background(), a.job(1), spec); err != nil {
		t.Fatal(err)
	}
	var seen []*grid.JobSpec
	for i := range spec.Count {
		offer := func(ev *grid.Event) bool { return ev.Msg.Kind == grid.KindOffer && ev.Msg.Offer.ID.Task.Index == i }
		rig.Await(t, "an offer", func() bool { _, ok := b.fake.find(grid.EvMessage, offer); return ok })
		ev, _ := b.fake.find(grid.EvMessage, offer)
		seen = append(seen, ev.Msg.Offer.Spec)
	}
	want := grid.Submitter{Node: a.self, User: "ada"}
	if s := seen[0]; s.Sealed == "" || s.Submitter != want || s != seen[1] || s != seen[2] {
		t.Errorf("offered: %+v, signed %t; one spec %t: want %+v", s.Submitter, s.Sealed != "", s == seen[1] && s == seen[2],
			want)
	}
	a.result(grid.TaskID{Job: a.job(1)})
	dir := a.cfg.DataDir
	a.close()
	again := openMember(t, dir, nil)
	for i := range again.fake.old {
		if r := &again.fake.old[i]; r.Kind == grid.RecRegister && (r.Register.Spec.Sealed != seen[0].Sealed ||
			r.Register.Spec.Submitter != want) {
			t.Errorf("record: %+v", r.Register.Spec)
		}
	}
}

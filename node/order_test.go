package node

import (
	"testing"
	"time"

	"skep/grid"
)

// A member that offers jobs of another uses its own share, unless the other has named it as one who keeps the job: what
// the origin has signed does not say that it wants it run again.
func TestOffersOfOthersJobsAreNotCharged(t *testing.T) {
	used := func(r *rig, id grid.NodeID) float64 {
		r.pass(10 * time.Second)
		if o := r.n.worker.Exec().Order(); o != nil {
			return o.Used(r.now, id)
		}
		return 0
	}
	fair := func(c *Config) { c.Order.Rule = "fair" }
	rig := func() *rig {
		r := newRig(t, fair)
		r.now = 3600e9
		for _, id := range []grid.NodeID{fastID, slowID, strangerID} {
			r.join(id, 1, "linux")
		}
		return r
	}
	r := rig()
	r.forgeOffer(attemptAt(1), spec(nil))
	if s, _, ok := r.n.Work(attemptAt(1)); !ok || s != grid.WorkRunning {
		t.Fatalf("the attempt: %v, %v, want that it runs", s, ok)
	}
	if by, of := used(r, strangerID), used(r, fastID); by < 0.9 || of > 0 {
		t.Errorf("%g core-seconds count for who offers, %g for the origin, want all for who offers", by, of)
	}
	r = rig()
	offerUnreplicated(r, spec(nil), 1)
	if of := used(r, fastID); of < 0.9 {
		t.Errorf("%g core-seconds count for the origin, which offers itself, want those of its run", of)
	}
	r = rig() // the origin has named the members, and then one of these owns the job
	r.writeFrom(fastID, replicatedJob, spec(nil), func(g *grid.RegisterMessage) { g.Members = three })
	r.deliver(slowID, grid.KindOffer, func(m *grid.Message) {
		id := attemptAt(1)
		id.Epoch = 2
		m.Offer = grid.Offer{ID: id, Spec: spec(nil), Class: "a", Lease: r.cfg.Lease, Members: three}
	})
	if by, of := used(r, slowID), used(r, fastID); of < 0.9 || by > 0 {
		t.Errorf("%g core-seconds count for an owner whom the origin has named, %g for the origin", by, of)
	}
}

package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

// reliable submits an idempotent task with a reliability to a node that may not run it and two that may, and brings it
// to the first of these that accepts it. It is known that such tasks take five seconds.
func reliable(t *testing.T, change func(*grid.JobSpec)) (r *rig, first grid.Send) {
	t.Helper()
	r = newRig(t, func(c *Config) {
		c.Labels, c.Order.MaxBid = []grid.Label{{Key: "os", Value: "none"}}, grid.MaxBid
	})
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	linux := []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	for k := range byte(3) { // known runs
		r.submit(jobID(10+k), spec(func(s *grid.JobSpec) { s.Class, s.Needs.Labels = "x", linux }))
		r.answerAll(nil)
		o := r.one(grid.KindOffer)
		r.deliverFor(o.To, grid.KindAccept, o.Msg.Offer.ID, nil)
		r.now = r.now.Add(5 * time.Second)
		r.deliverFor(o.To, grid.KindResult, o.Msg.Offer.ID, &grid.Result{Cause: grid.Exited, Wall: 5 * time.Second})
	}
	for range 20 { // and both have lost some
		for _, id := range [...]grid.NodeID{fastID, slowID} {
			p := grid.Expectation{Made: r.now, SentAt: r.now.Add(-time.Second), Accepted: true}
			r.n.peers.Given(r.now, &p, "", id, 1)
			r.n.peers.Returned(r.now, &p, id, false)
			r.n.peers.Lost(r.now, &p, id, r.cfg.Lease)
		}
	}
	r.submit(jobID(1), spec(func(s *grid.JobSpec) {
		s.Class, s.Idempotent, s.Needs.Labels = "x", true, linux
		s.Rules.Reliability = grid.ReliabilityAuto
		change(s)
	}))
	r.answerAll(nil)
	first = r.one(grid.KindOffer)
	r.deliverFor(first.To, grid.KindAccept, first.Msg.Offer.ID, nil)
	return r, first
}

// said is why a copy runs, or none.
func (r *rig) said(what grid.TraceKind) string {
	for _, tr := range r.task(jobID(1)).Traces {
		if tr.What == what {
			return tr.Refusal.Detail
		}
	}
	return ""
}

// A copy runs where the deadline leaves no time to repeat a lost run and the result is worth it; at the node that has
// no attempt of the task.
func TestACopyRunsWhereItSavesMoreThanItTakes(t *testing.T) {
	tight, dear := grid.Deadline{At: 8 * time.Second}, grid.MaxBid
	for name, c := range map[string]struct {
		change func(*grid.JobSpec)
		copied bool
		says   string
	}{
		"always": {func(s *grid.JobSpec) { s.Rules.Reliability = grid.ReliabilityReplicate }, true, "replicate: a copy"},
		"auto, without a deadline": {func(s *grid.JobSpec) { s.Rules.Bid = dear }, false,
			"auto: repeated if it is lost"},
		"auto, dear and urgent": {func(s *grid.JobSpec) { s.Rules.Deadline, s.Rules.Bid = tight, dear }, true,
			"auto: a copy beside it"},
		"auto, urgent": {func(s *grid.JobSpec) { s.Rules.Deadline = tight }, false, "auto: not repeated"},
		"auto, not idempotent": {func(s *grid.JobSpec) {
			s.Rules.Deadline, s.Rules.Bid, s.Idempotent = tight, dear, false
		}, false, ""},
	} {
		r, first := reliable(t, c.change)
		offers := r.sent(grid.KindOffer)
		if copied := len(offers) == 1 && offers[0].To != first.To; copied != c.copied || len(offers) > 1 {
			t.Errorf("%s: %d more offers: want a copy elsewhere: %v", name, len(offers), c.copied)
		}
		what := grid.TraceReliability
		if c.copied {
			what = grid.TraceCopied
		}
		if said := r.said(what); !strings.Contains(said, c.says) {
			t.Errorf("%s: it says %q: want %q in it", name, said, c.says)
		}
	}
}

// An offer that nobody answers finds a node that was away before: it says nothing of how often a run is lost. A loss of
// an attempt that was accepted does.
func TestAnOfferWithoutAnAnswerIsNoLostRun(t *testing.T) {
	for accepted, more := range map[bool]bool{false: false, true: true} {
		r := newRig(t, func(c *Config) { c.Labels = []grid.Label{{Key: "os", Value: "none"}} })
		r.join(fastID, 1, "linux")
		p := grid.Expectation{Made: r.now, SentAt: r.now - 1, Accepted: true}
		r.n.peers.Given(r.now, &p, "", fastID, 1)
		r.n.peers.Returned(r.now, &p, fastID, true) // it is known
		before := r.n.peers.Risk(r.now, fastID, 60)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
		}))
		r.answerAll(nil)
		first := r.one(grid.KindOffer)
		if accepted {
			r.deliverFor(first.To, grid.KindAccept, first.Msg.Offer.ID, nil)
		}
		r.step(grid.Event{Kind: grid.EvPeerDown, Peer: fastID})
		for k := 0; r.task(jobID(1)).Lost == 0 && k < 1000; k++ {
			r.fx.Reset()
			r.pass(10*time.Millisecond, grid.TimerLease, grid.TimerOffer)
		}
		if after := r.n.peers.Risk(r.now, fastID, 60); after > before != more {
			t.Errorf("accepted %v: the risk was %g, and is %g: want it greater: %v", accepted, before, after, more)
		}
	}
}

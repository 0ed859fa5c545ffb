package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

var thirdID = grid.NodeID{4}

// loseOn gives the task to a node and lets that fall silent; it returns when the attempt was given up.
func (r *rig) loseOn(id grid.JobID, at grid.AttemptID, to grid.NodeID) grid.Time {
	r.t.Helper()
	r.deliverFor(to, grid.KindAccept, at, nil)
	r.step(grid.Event{Kind: grid.EvPeerDown, Peer: to})
	for k := 0; r.task(id).State == grid.Placed && k < 1000; k++ {
		r.fx.Reset()
		r.pass(10*time.Millisecond, grid.TimerLease)
	}
	return r.now
}

// A task lost on three different nodes ends and names them, though its retries would allow more; each loss lengthens
// the pause before the next attempt.
func TestTaskThatFailsOnThreeNodesStops(t *testing.T) {
	for _, strikes := range []int{3, 0} {
		r := newRig(t, func(c *Config) { c.Strikes = strikes; c.Labels[0].Value = "other" })
		s := spec(func(s *grid.JobSpec) {
			s.Retries = 100
			s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
		})
		all := []grid.NodeID{fastID, slowID, thirdID}
		for _, id := range all {
			r.join(id, 1, "linux")
		}
		at := r.offered(jobID(1), s, fastID)
		pauses := []time.Duration{}
		for k, id := range all {
			lost := r.loseOn(jobID(1), at, id)
			if k == len(all)-1 {
				break
			}
			for i := 0; len(r.sent(grid.KindOffer)) == 0 && i < 1000; i++ {
				if len(r.sent(grid.KindPoll)) > 0 {
					r.answer(all[k+1])
					continue
				}
				r.fx.Reset()
				r.pass(10*time.Millisecond, grid.TimerRetry, grid.TimerPoll, grid.TimerLease)
			}
			pauses = append(pauses, r.now.Sub(lost))
			o := r.one(grid.KindOffer)
			if o.To == id {
				t.Fatalf("offered again to the node that lost it, while others are there")
			}
			at = o.Msg.Offer.ID
			if o.To != all[k+1] {
				t.Fatalf("offered to %v, want %v", o.To.Short(), all[k+1].Short())
			}
		}
		if pauses[0] > time.Second || pauses[1] < r.cfg.Lease/4 {
			t.Errorf("placed again after %v: want at once, then not before a quarter of the lease", pauses)
		}
		v := r.task(jobID(1))
		if strikes == 0 {
			if v.State == grid.Ended {
				t.Errorf("it ended, %v, though only its retries bound it", v.Result)
			}
			continue
		}
		if v.State != grid.Ended || v.Result.Cause != grid.Lost ||
			!strings.Contains(v.Result.Error, "failed on 3 nodes: peer was lost; peer") {
			t.Errorf("after three nodes it is %v, %v: want it ended as lost, with the nodes", v.State, v.Result)
		}
	}
}

// A task's history names the blacklisted node and the reason, and the node is not polled.
func TestTraceNamesBlacklistedNode(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "linux")
	for k := range 3 {
		at := r.offered(jobID(byte(1+k)), spec(nil), fastID)
		r.deliverFor(fastID, grid.KindResult, at, &grid.Result{Cause: grid.Exited, Exit: 1, Wall: time.Millisecond})
		r.want(jobID(byte(1+k)), grid.Ended)
	}
	r.submit(jobID(9), spec(nil))
	if n := len(r.sent(grid.KindPoll)) + len(r.sent(grid.KindOffer)); n != 0 {
		t.Errorf("%d messages to a node where 3 of 3 have failed", n)
	}
	r.want(jobID(9), grid.Placed)
	first := r.task(jobID(9)).Traces[0]
	if first.Node != fastID || first.Refusal.Why != grid.WhyAvoided || first.Refusal.Detail != "3 of 3 failed there" {
		t.Errorf("its history begins with %v, want that the node is blacklisted, 3 of 3 failed there", first)
	}
	if why := r.n.Blacklisted(r.now, grid.ClassOf(spec(nil)), fastID); why.Why != grid.WhyAvoided {
		t.Errorf("the node is shown as %q", why.Why)
	}
	if r.n.rates.Class(grid.ClassOf(spec(nil))).Known() {
		t.Error("what failed in a millisecond counts as the usual run time")
	}
}

// A job of the local policy runs here or nowhere: blacklisting this node for its class does not keep it waiting.
func TestLocalPolicyRunsWhereItsClassFails(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Policy = "local" })
	for k := range 4 {
		id := jobID(byte(1 + k))
		r.submit(id, spec(nil))
		if len(r.fx.Starts) != 1 {
			t.Fatalf("after %d failures: %v", k, r.task(id).Traces)
		}
		r.step(grid.Event{Kind: grid.EvEnded, Attempt: r.fx.Starts[0].Attempt, Result: &grid.Result{Cause: grid.Exited,
			Exit: 1, Wall: time.Millisecond}})
	}
}

// Where one node alone fits, no back-off keeps work from it: each task is offered there at once, however many failed.
func TestTheOnlyNodeIsUsedWhereItsClassFails(t *testing.T) {
	r := newRig(t, nil)
	r.join(fastID, 1, "bsd")
	for k := range 8 {
		at := r.offered(jobID(byte(1+k)), spec(on("bsd", 0)), fastID)
		r.deliverFor(fastID, grid.KindResult, at, &grid.Result{Cause: grid.Exited, Exit: 1, Wall: time.Millisecond})
		r.want(jobID(byte(1+k)), grid.Ended)
	}
	if why := r.n.Blacklisted(r.now, grid.ClassOf(spec(on("bsd", 0))), fastID); why.Why != grid.WhyAvoided {
		t.Errorf("the node is shown as %q", why.Why)
	}
}

// A program whose output exceeds the limits is no failure of its node: the node is offered more, though the task ends
// with 125.
func TestOutputLimitIsNoFailureOfTheNode(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Labels[0].Value = "other" })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	left := *exitZero
	left.Exit, left.Error = grid.ExitSkep, "outputs: 20000 files: want at most 10000"
	class := ""
	for k := range 7 {
		s := spec(func(s *grid.JobSpec) { s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}} })
		class = grid.ClassOf(s)
		id := r.offered(jobID(byte(k)), s, fastID)
		r.deliverFor(fastID, grid.KindAccept, id, nil)
		r.deliverFor(fastID, grid.KindResult, id, &left)
		if v := r.task(jobID(byte(k))); v.State != grid.Ended || v.Result.Exit != grid.ExitSkep {
			t.Fatalf("task %d: %v, %+v", k, v.State, v.Result)
		}
	}
	if r.n.peers.HasBlacklist(class) {
		t.Errorf("the node is blacklisted: %v", r.n.Blacklisted(r.now, class, fastID))
	}
}

// The pause after a second loss is not cut short by a node that comes, though the task waited for one before.
func TestPauseOfALostTaskIgnoresNodesThatCome(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Labels[0].Value = "other" })
	s := spec(func(s *grid.JobSpec) {
		s.Retries, s.Wait = 100, true
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	})
	r.submit(jobID(1), s)
	var lost grid.Time
	for _, id := range []grid.NodeID{fastID, slowID} {
		r.join(id, 1, "linux")
		for end := r.now.Add(time.Minute); len(r.sent(grid.KindOffer)) == 0 && r.now < end; {
			r.pass(time.Second)
		}
		lost = r.loseOn(jobID(1), r.one(grid.KindOffer).Msg.Offer.ID, id)
	}
	r.join(thirdID, 1, "linux")
	for end := r.now.Add(time.Minute); len(r.sent(grid.KindOffer)) == 0 && r.now < end; {
		r.pass(10 * time.Millisecond)
	}
	if pause := r.now.Sub(lost); r.task(jobID(1)).Lost != 2 || pause < r.cfg.Lease/4 {
		t.Errorf("after %d losses it was offered again in %v, want at least %v", r.task(jobID(1)).Lost, pause, r.cfg.Lease/4)
	}
}

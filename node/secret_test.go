package node

import (
	"strings"
	"testing"
	"time"

	"skep/grid"
)

var holderID = grid.NodeID{9}

// withSecret makes the tasks of a job get a secret, which the holder has and these workers may get.
func withSecret(workers ...grid.NodeID) *grid.JobSpec {
	return spec(func(s *grid.JobSpec) {
		s.Needs.Labels = []grid.LabelNeed{{Key: grid.IsolationLabel, Values: grid.IsolationBasic.AtLeast()},
			grid.FeatureNeed(grid.SecretLabel)}
		s.Secrets = []grid.SecretUse{{Name: "db", Owner: selfID, Holders: []grid.NodeID{holderID}, Workers: workers}}
	})
}

// joinBoxed connects a peer that gives secrets to its tasks.
func (r *rig) joinBoxed(id grid.NodeID, seq uint64) {
	r.t.Helper()
	r.join(id, 1, "linux")
	ad := &grid.Ad{Node: id, Seq: grid.Seq{Boot: 1, N: seq}, Name: "peer", Speed: 1, Availability: 1,
		Capacity: grid.Resources{CPU: grid.CPU, Memory: grid.GiB}, Free: grid.Resources{CPU: grid.CPU, Memory: grid.GiB},
		Engines: []string{grid.EngineProcess}, Labels: []grid.Label{{Key: grid.IsolationLabel, Value: "strict"},
			{Key: "os", Value: "linux"}, {Key: grid.SecretLabel, Value: grid.FeatureValue}}}
	r.deliver(id, grid.KindDigest, func(m *grid.Message) { m.Digest = []grid.AdEntry{{Ad: ad}} })
}

// A task that needs a secret waits while no node that holds it is connected, says so, and dials that node. When it
// comes the task is offered, to a worker that may get the secret and to no other.
func TestTaskWaitsForAHolderOfItsSecret(t *testing.T) {
	r := newRig(t, nil)
	r.joinBoxed(fastID, 2)
	r.joinBoxed(slowID, 2)
	r.submit(jobID(1), withSecret(slowID))
	for range 5 {
		r.want(jobID(1), grid.Pending)
		if len(r.sent(grid.KindOffer))+len(r.sent(grid.KindPoll)) > 0 {
			t.Fatalf("it is placed while nobody has its secret: %v", kindsOf(r.fx.Sends))
		}
		v := r.task(jobID(1))
		last := v.Traces[len(v.Traces)-1]
		if last.What != grid.TraceWait || last.Refusal.Why != grid.WhySecret || !strings.Contains(last.Refusal.Detail, "db") {
			t.Fatalf("it says %+v", last)
		}
		r.pass(2500*time.Millisecond, grid.TimerRetry)
	}
	if len(r.fx.Links) == 0 || r.fx.Links[0].Peer != holderID {
		t.Errorf("links %v: want the holder dialled", r.fx.Links)
	}
	r.joinBoxed(holderID, 2)
	if len(r.sent(grid.KindOffer)) == 0 {
		r.pass(5*time.Second, grid.TimerRetry)
	}
	if o := r.one(grid.KindOffer); o.To != slowID {
		t.Errorf("offered to %v: want %v, which alone may get the secret", o.To.Short(), slowID.Short())
	}
}

// A job whose secret no known node may get ends as one that nobody can run.
func TestNobodyMayGetTheSecret(t *testing.T) {
	r := newRig(t, nil)
	r.joinBoxed(fastID, 2)
	r.joinBoxed(holderID, 2)
	r.submit(jobID(1), withSecret(slowID))
	for end := r.now.Add(time.Minute); r.now < end; {
		if len(r.sent(grid.KindOffer)) > 0 {
			t.Fatal("it is offered to who may not get its secret")
		}
		r.pass(time.Second)
	}
	if v := r.task(jobID(1)); v.Result == nil || v.Result.Cause != grid.Unplaceable ||
		!strings.Contains(v.Result.Error, grid.WhyUntrusted.String()) {
		t.Errorf("it is %v, %+v", v.State, v.Result)
	}
}

// A worker that reaches nobody who holds a secret gives the attempt back, which has not run, so its owner can
// have the task wait. That is on disk.
func TestAttemptWithoutItsSecretIsHandedBack(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Labels = append([]grid.Label{{Key: grid.IsolationLabel, Value: "strict"}}, append(c.Labels,
			grid.Label{Key: grid.SecretLabel, Value: grid.FeatureValue})...)
	})
	r.join(fastID, 1, "linux")
	r.offer(fastID, foreignAttempt(1), withSecret(selfID))
	if len(r.fx.Starts) != 1 || r.fx.Starts[0].Given == nil {
		t.Fatalf("starts %+v: want one that says what proves it", r.fx.Starts)
	}
	r.step(grid.Event{Kind: grid.EvLate, Attempt: foreignAttempt(1), Err: "no node that holds it answers"})
	m := r.one(grid.KindRefuse)
	if m.To != fastID || m.Msg.Refusal.Why != grid.WhySecret || len(r.fx.Starts) > 0 {
		t.Errorf("refusal %+v, starts %v", m, r.fx.Starts)
	}
	if !m.Msg.Refusal.Why.NeverStarted() {
		t.Error("its owner would count it as lost")
	}
	if rec := r.disk["work "+foreignAttempt(1).String()]; rec.Work.HandedBack == nil {
		t.Errorf("on disk %+v", rec.Work)
	}
}

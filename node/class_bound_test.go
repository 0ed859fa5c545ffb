package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skep/balance/reallocation"
	"skep/grid"
)

func bounded(c *Config) { c.Bounds = []Bound{{Class: "small", Time: 10 * time.Second, Next: "large"}} }

// offerClass makes a peer give this node a task of a class.
func (r *rig) offerClass(class string, retries int32) grid.AttemptID {
	r.t.Helper()
	return r.offerSpec(class, spec(func(s *grid.JobSpec) { s.Retries = retries }))
}

// offerBid is offerClass with a bid, in usual ones.
func (r *rig) offerBid(class string, bid grid.Bid) grid.AttemptID {
	r.t.Helper()
	return r.offerSpec(class, spec(func(s *grid.JobSpec) { s.Retries, s.Rules.Bid = 2, bid*grid.UsualBid }))
}

func (r *rig) offerSpec(class string, s *grid.JobSpec) grid.AttemptID {
	r.t.Helper()
	id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{byte(r.now)}}},
		Attempt: grid.Attempt{Epoch: 1, N: 1}}
	r.deliver(fastID, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: id, Spec: s, Class: class, Lease: time.Minute}
	})
	return id
}

// A worker stops an attempt that runs longer than its class's bound, and says which class it is of; not one without
// retries, and not one without a bound.
func TestWorkerStopsAttemptOverClassBound(t *testing.T) {
	for _, c := range []struct {
		class   string
		retries int32
		stops   bool
	}{{"small", 2, true}, {"small", 0, false}, {"large", 2, false}} {
		r := newRig(t, bounded)
		r.join(fastID, 1, "linux")
		id := r.offerClass(c.class, c.retries)
		if len(r.fx.Starts) != 1 {
			t.Fatal("does not start")
		}
		r.pass(9900*time.Millisecond, grid.TimerBound)
		if len(r.fx.Stops) > 0 {
			t.Error("stopped before its time")
		}
		r.pass(200*time.Millisecond, grid.TimerBound)
		if stopped := len(r.fx.Stops) == 1 && r.fx.Stops[0].Attempt == id; stopped != c.stops {
			t.Fatalf("%s with %d retries: stopped %v", c.class, c.retries, stopped)
		}
		if c.stops {
			if res := r.one(grid.KindResult).Msg.Result; res.Cause != grid.Lost || res.Next != "large" {
				t.Errorf("result %+v", res)
			}
		}
	}
}

// offeredAs brings a job of a class to the point where it is offered to a peer; it cannot run here.
func (r *rig) offeredAs(i byte, class string, retries int32, to grid.NodeID) grid.AttemptID {
	r.t.Helper()
	return r.offered(jobID(i), spec(func(s *grid.JobSpec) {
		s.Class, s.Retries = class, retries
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}), to)
}

func cannotRunHere(c *Config) { c.Labels = []grid.Label{{Key: "os", Value: "none"}} }

// reportStopped makes a worker report that it stopped a task, which is now of class next.
func (r *rig) reportStopped(from grid.NodeID, id grid.AttemptID, next string) {
	r.t.Helper()
	r.deliverFor(from, grid.KindAccept, id, nil)
	r.deliverFor(from, grid.KindResult, id, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Next: next})
}

// Its owner places the task again in that class, elsewhere if possible, without using up a retry. A worker that names
// an earlier class of the task has lost it.
func TestOwnerDemotes(t *testing.T) {
	r := newRig(t, cannotRunHere)
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.reportStopped(fastID, r.offeredAs(1, "small", 1, fastID), "large")
	o := r.one(grid.KindOffer)
	if id := o.Msg.Offer.ID; o.To != slowID || o.Msg.Offer.Class != "large" || id.N != 2 {
		t.Fatalf("offers attempt %d as class %s to %v", id.N, o.Msg.Offer.Class, o.To.Short())
	}
	if v := r.task(jobID(1)); v.Lost != 0 {
		t.Errorf("%d lost, want none", v.Lost)
	}
	r.reportStopped(slowID, o.Msg.Offer.ID, "small")
	if v := r.task(jobID(1)); v.Lost != 1 || v.State == grid.Ended {
		t.Errorf("after it was sent back: %v, %d lost", v.State, v.Lost)
	}
}

// With no other node a task continues on the node that stopped it, through a bounded number of classes; then it counts
// as lost there.
func TestDemotionsEnd(t *testing.T) {
	r := newRig(t, cannotRunHere)
	r.join(fastID, 1, "linux")
	id := r.offeredAs(1, "c0", 1, fastID)
	for k := range maxDemotions {
		next := string([]byte{'c', byte('1' + k)})
		r.reportStopped(fastID, id, next)
		r.answer(fastID)
		o := r.one(grid.KindOffer).Msg.Offer
		if o.Class != next {
			t.Fatalf("offers it as class %s, want %s", o.Class, next)
		}
		id = o.ID
	}
	for range 2 {
		r.reportStopped(fastID, id, "d")
		if r.task(jobID(1)).State == grid.Ended {
			break
		}
		r.answer(fastID)
		id = r.one(grid.KindOffer).Msg.Offer.ID
	}
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Lost || v.Lost != 2 {
		t.Errorf("%v, %+v, %d lost", v.State, v.Result, v.Lost)
	}
}

// Where bounds contradict each other no retry helps: the task ends, however many retries it has.
func TestRetriesDoNotHelpAgainstBounds(t *testing.T) {
	r := newRig(t, cannotRunHere)
	r.join(fastID, 1, "linux")
	id := r.offeredAs(1, "c0", 1000, fastID)
	for k := range maxPrepareFailures {
		r.reportStopped(fastID, id, "c0")
		if k == maxPrepareFailures-1 {
			break
		}
		for end := r.now.Add(time.Hour); len(r.sent(grid.KindOffer)) == 0; r.pass(50 * time.Millisecond) {
			if r.now > end {
				t.Fatalf("not offered after %d", k)
			}
			if len(r.sent(grid.KindPoll)) > 0 {
				r.answer(fastID)
				break
			}
		}
		id = r.one(grid.KindOffer).Msg.Offer.ID
	}
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Lost {
		t.Errorf("%v, %+v, %d lost", v.State, v.Result, v.Lost)
	}
}

// A demotion is no delivery: a node that stops every attempt at once does not gain a good track record, and is
// blacklisted for that class.
func TestNodeThatDemotesAllIsBlacklisted(t *testing.T) {
	r := newRig(t, cannotRunHere)
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	for k := range byte(3) {
		r.reportStopped(fastID, r.offeredAs(k+1, "small", 3, fastID), "large")
		r.answer(slowID)
		id := r.one(grid.KindOffer).Msg.Offer.ID
		r.deliverFor(slowID, grid.KindAccept, id, nil)
		r.deliverFor(slowID, grid.KindResult, id, exitZero)
		r.want(jobID(k+1), grid.Ended)
	}
	if s := r.n.peers.Record(fastID); s == nil || s.Delivered() {
		t.Errorf("its track record is %+v", s)
	}
	if why := r.n.Blacklisted(r.now, "small", fastID); why.Why != grid.WhyAvoided {
		t.Errorf("it is not blacklisted: %v", why)
	}
}

// Regression: a class name that must not be published is not accepted. The first version took it from a worker and
// could then publish nothing more, not even after a restart. Nor is a level: it would evict those that were measured.
func TestUnpublishableClassNameIsRejected(t *testing.T) {
	r := newRig(t, cannotRunHere)
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	for k, next := range []string{"\n", "\xff", strings.Repeat("x", grid.MaxClass+1),
		"process:sh" + grid.LevelMark + "deadbeef"} {
		r.reportStopped(fastID, r.offeredAs(byte(k+1), "small", 3, fastID), next)
		if v := r.task(jobID(byte(k + 1))); v.Lost != 1 || r.n.rates.Class(next) != nil {
			t.Errorf("%q: %d lost, measured %v", next, v.Lost, r.n.rates.Class(next))
		}
	}
}

// Bounds that form a cycle would stop a task for ever.
func TestCyclicBoundsAreRejected(t *testing.T) {
	small, medium := Bound{Class: "small", Time: time.Second, Next: "medium"}, Bound{Class: "medium", Time: time.Second,
		Next: "large"}
	for name, c := range map[string]struct {
		bounds []Bound
		ok     bool
	}{
		"a chain":        {[]Bound{small, medium}, true},
		"a circle of 2":  {[]Bound{small, {Class: "medium", Time: time.Second, Next: "small"}}, false},
		"a circle of 3":  {[]Bound{small, medium, {Class: "large", Time: time.Second, Next: "small"}}, false},
		"not for others": {[]Bound{{Class: "small", Time: time.Second, Next: "a\n"}}, false},
	} {
		cfg := config(selfID)
		cfg.Bounds = c.bounds
		if err := cfg.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An attempt that was suspended when its bound was looked at, and goes on when the cores are allocated anew, is stopped
// at its bound like any other.
func TestBoundAfterReallocation(t *testing.T) {
	r := newRig(t, func(c *Config) {
		bounded(c)
		c.Order.Rule, c.Order.MaxBid = "fifo", grid.MaxBid
		c.Order.Reallocate = reallocation.Config{Every: 4 * time.Second, Utility: "um_p1"}
	})
	r.join(fastID, 1, "linux")
	few := r.offerBid("small", 1)
	r.now++ // its ID is of the time
	r.offerBid("large", 9)
	r.pass(5*time.Second, grid.TimerReallocate)
	if !r.n.worker.Exec().Suspended(r.n.worker.Exec().Get(few)) {
		t.Fatal("it is not suspended")
	}
	stopped := false
	for range 200 {
		r.pass(grid.MaxSuspended/50, grid.TimerReallocate, grid.TimerBound)
		stopped = stopped || slices.ContainsFunc(r.fx.Stops, func(s grid.Stop) bool { return s.Attempt == few })
	}
	if !stopped {
		t.Errorf("it runs beyond its bound: %+v", r.n.worker.Exec().SuspensionsOf(r.n.worker.Exec().Get(few)))
	}
}

package node

import (
	"testing"
	"time"

	"skep/grid"
)

func bounded(c *Config) { c.Bounds = []Bound{{Class: "small", Time: 10 * time.Second, Next: "large"}} }

// entrust makes a peer give this node a task of a class.
func (r *rig) entrust(class string, retries int32) grid.AttemptID {
	r.t.Helper()
	id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: fastID, Nonce: [10]byte{byte(r.now)}}}, Attempt: grid.Attempt{Epoch: 1, N: 1}}
	r.say(fastID, grid.KindOffer, func(m *grid.Message) {
		m.Offer = grid.Offer{ID: id, Spec: spec(func(s *grid.JobSpec) { s.Retries = retries }), Class: class, Lease: time.Minute}
	})
	return id
}

// A worker stops what runs longer than the bound of its class, and says of what class it is; not what must run only once,
// and not what has no bound.
func TestWorkerStopsWhatHasOutgrownItsClass(t *testing.T) {
	for _, c := range []struct {
		class   string
		retries int32
		stops   bool
	}{{"small", 2, true}, {"small", 0, false}, {"large", 2, false}} {
		r := newRig(t, bounded)
		r.join(fastID, 1, "linux")
		id := r.entrust(c.class, c.retries)
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

// Its owner places it again as one of that class. No retry is used up, and a task that is sent to and fro ends.
func TestOwnerDemotes(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Labels = []grid.Label{{Key: "os", Value: "none"}} })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	id := r.offered(jobID(1), spec(func(s *grid.JobSpec) {
		s.Class, s.Retries = "small", 1
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}), fastID)
	next := "large"
	for k := range mostDemoted {
		r.about(fastID, grid.KindAccept, id, nil)
		r.about(fastID, grid.KindResult, id, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Next: next})
		for _, p := range r.sent(grid.KindPoll) {
			if p.Msg.Poll.Class != next {
				t.Fatalf("asks for a task of class %s, want %s", p.Msg.Poll.Class, next)
			}
		}
		r.answer(fastID)
		o := r.one(grid.KindOffer).Msg.Offer
		if o.Class != next || o.ID.N != uint32(k)+2 {
			t.Fatalf("offers attempt %d as class %s", o.ID.N, o.Class)
		}
		id, next = o.ID, map[string]string{"large": "small", "small": "large"}[next]
	}
	if v := r.task(jobID(1)); v.Lost != 0 {
		t.Errorf("%d lost, want none", v.Lost)
	}
	r.about(fastID, grid.KindAccept, id, nil)
	r.about(fastID, grid.KindResult, id, &grid.Result{Cause: grid.Lost, Exit: grid.ExitSkep, Next: next})
	if v := r.task(jobID(1)); v.State != grid.Ended || v.Result.Cause != grid.Lost {
		t.Errorf("after it went to and fro: %v, %+v", v.State, v.Result)
	}
}

package price

import (
	"math"
	"testing"
	"time"

	"skep/balance/order"
	"skep/exec"
	"skep/grid"
)

// machine is an executor of two cores that suspends for bids three times as high, and what it asks with a policy.
func machine(policy string) (*exec.Exec, Asked) {
	cfg := order.Defaults()
	cfg.Preempt = 3
	here := new(exec.New(grid.Resources{CPU: 2 * grid.CPU, Memory: grid.GiB}))
	here.OrderBy(&cfg, nil)
	return here, New(here, policy)
}

// run has a task of one core with a bid run.
func run(here *exec.Exec, now grid.Time, index uint32, bid grid.Bid) {
	s := &grid.JobSpec{Count: 100, Needs: grid.Needs{Resources: grid.Resources{CPU: grid.CPU}}}
	s.Rules.Bid = bid
	id := grid.AttemptID{Attempt: grid.Attempt{Epoch: 1, N: 1}}
	id.Task.Job.Nonce[0] = byte(index)
	here.AcceptFrom(exec.Owner{}, now, id, &grid.Offer{ID: id, Spec: s, Class: "a"}, true)
	here.Next(now)
}

// A node's price is what its cores earn, and falls to nothing while one is free; a quote adds the lowest bid that can
// be outbid, and the sum of all.
func TestPriceFollowsWhatRuns(t *testing.T) {
	here, a := machine("cda_res:0.5")
	if a.Price(0) != 0 || a.Falling(0) {
		t.Error("an idle node has a price")
	}
	run(here, 0, 1, 4000)
	a.Follow(0)
	run(here, 0, 2, 2000)
	a.Follow(0)
	now := grid.Time(time.Hour)
	if q := a.Quote(now); math.Abs(q.Price.Number()-2.5) > 0.01 || q.Outbid != 2000 || q.Bids != 6000 {
		t.Errorf("quote %+v: want 2.5 for bids of 4 and 2 and a discount of 0.5, 2 to outbid, 6 in all", q)
	}
	here.Finish(here.Running()[0].ID, &grid.Result{})
	a.Follow(now)
	if !a.Falling(now) || a.Price(now) == 0 {
		t.Error("as a core becomes free the price does not begin to fall")
	}
	if p := a.Price(now.Add(time.Minute)); p != 0 {
		t.Errorf("price %v after a minute with a free core, want none", p)
	}
	run(here, now.Add(time.Minute), 3, 4000)
	a.Follow(now.Add(time.Minute))
	if p := a.Price(now.Add(time.Minute)); p < 2000 {
		t.Errorf("price %v after a match, want what was earned", p)
	}
}

// A node whose policy has no reserve prices asks none, whatever runs.
func TestNoPriceUnlessThePolicyHasOne(t *testing.T) {
	here, a := machine("cda")
	run(here, 0, 1, 4000)
	run(here, 0, 2, 4000)
	a.Follow(0)
	if q := a.Quote(grid.Time(time.Hour)); q.Price != 0 || q.Bids != 8000 || a.Falling(0) {
		t.Errorf("quote %+v, want no price", q)
	}
}

package node

import (
	"testing"
	"time"

	"skep/grid"
)

// An owner whose epoch a member has gone beyond tries for a higher one. It goes on as before only if nobody else has owned the job
// meanwhile: else it waits a lease for word of attempts that it does not know, and what has ended has ended.
func TestOwnerRenewsItsEpochIfNobodyElseHadOne(t *testing.T) {
	for _, since := range []grid.NodeID{selfID, fastID} {
		r := guards(t)
		r.takeOver()
		j := r.n.job(guarded)
		if !j.guard.reg.Leads() || j.tasks[0].live == nil {
			t.Fatal("it does not own the job, or not the attempt that runs here")
		}
		j.guard.limbo, j.guard.above = 0, 7 // it has owned the job for long
		for end := r.now.Add(time.Minute); len(r.sent(grid.KindPromise)) == 0; r.pass(time.Second) {
			if r.now > end {
				t.Fatal("it never tries for a higher epoch")
			}
		}
		epoch := r.sent(grid.KindPromise)[0].Msg.Guard.Epoch
		r.say(slowID, grid.KindPromised, func(m *grid.Message) {
			m.Guard = grid.Guard{Job: guarded, Epoch: epoch, Answer: grid.GuardOK, Owner: since, Next: 3,
				Finals: []grid.Final{{Index: 0, Epoch: epoch - 1, Attempt: grid.Attempt{Epoch: epoch - 1, N: 1}, Worker: slowID, Result: exitZero}}}
		})
		if !j.guard.reg.Leads() || j.guard.epoch != epoch {
			t.Fatalf("it does not own epoch %d", epoch)
		}
		if waits := j.guard.limbo > r.now; waits != (since == fastID) {
			t.Errorf("node %s owned the job last: it waits for word of attempts %v", since.Short(), waits)
		}
		if j.tasks[0].state != grid.Ended || j.tasks[0].live != nil {
			t.Errorf("the task that has ended elsewhere is %v, and still looked after: %v", j.tasks[0].state, j.tasks[0].live != nil)
		}
	}
}

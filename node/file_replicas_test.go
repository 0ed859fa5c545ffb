package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// withOutput makes this node the owner of a replicated job whose task has just ended here and left a file.
func withOutput(t *testing.T) (*rig, grid.AttemptID) {
	r := newRig(t, func(c *Config) { c.Members = 3 })
	r.join(fastID, 1, "linux")
	r.join(slowID, 1, "linux")
	r.submit(jobID(1), spec(nil))
	for _, k := range []grid.Kind{grid.KindKeepaliveAck, grid.KindWriteAck} {
		for _, s := range slices.Clone(r.fx.Sends) {
			g := s.Msg.Register
			r.deliver(s.To, k, func(m *grid.Message) {
				m.Register = grid.RegisterMessage{Job: jobID(1), Epoch: g.Epoch, Seq: g.Seq, Answer: grid.RegisterOK}
			})
		}
	}
	r.answer(selfID)
	r.pass(2*time.Second, grid.TimerPoll)
	if len(r.fx.Starts) != 1 {
		t.Fatalf("nothing starts; %v", r.task(jobID(1)))
	}
	id := r.fx.Starts[0].Attempt
	r.step(grid.Event{Kind: grid.EvEnded, Attempt: id, Result: &grid.Result{Cause: grid.Exited, Outputs: files(1, 1, grid.MiB)}})
	return r, id
}

// A task with output ends when one of the other two members has the files, or when neither will.
func TestOwnerWaitsForDeposit(t *testing.T) {
	for name, answers := range map[string][]grid.Why{"one has them": {grid.WhyNone}, "the second has them": {grid.WhyRoom, grid.WhyNone}, "neither": {grid.WhyRoom, grid.WhyDisk}} {
		r, id := withOutput(t)
		asked := slices.Clone(r.sent(grid.KindDeposit))
		if len(asked) != 2 || len(r.sent(grid.KindWrite)) != 0 {
			t.Fatalf("%s: %v are sent", name, kindsOf(r.fx.Sends))
		}
		for k, why := range answers {
			if k > 0 && len(r.sent(grid.KindWrite)) != 0 {
				t.Errorf("%s: the end is written after %d answers", name, k)
			}
			r.deliver(asked[k].To, grid.KindDepositAck, func(m *grid.Message) {
				m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: why}
			})
		}
		if w := r.sent(grid.KindWrite); len(w) != 2 || len(w[0].Msg.Register.Entries) != 1 || (w[0].Msg.Register.Entries[0].Result.Error != "") != (name == "neither") {
			t.Errorf("%s: %v are sent", name, kindsOf(r.fx.Sends))
		}
	}
}

// Regression: members that are busy fetching are asked again soon, and the end waits for them. It said at once that no
// other node had the files.
func TestOwnerAsksABusyMemberAgain(t *testing.T) {
	r, id := withOutput(t)
	say := func(to grid.NodeID, why grid.Why) {
		r.deliver(to, grid.KindDepositAck, func(m *grid.Message) {
			m.Attempts, m.Refusal = []grid.AttemptID{id}, grid.Refusal{Why: why}
		})
	}
	for _, to := range []grid.NodeID{fastID, slowID} {
		if say(to, grid.WhyQueue); len(r.sent(grid.KindWrite)) != 0 {
			t.Fatal("the end is written though both may bring the files soon")
		}
	}
	for end := r.now.Add(r.n.cfg.Lease * 2 / 3); len(r.sent(grid.KindDeposit)) != 2; {
		if r.pass(r.n.cfg.Lease/3, grid.TimerRegister); r.now > end {
			t.Fatalf("%v are sent a third of a lease later, and after the tick behind that: want both asked again", kindsOf(r.fx.Sends))
		}
	}
	say(slowID, grid.WhyNone)
	if w := r.sent(grid.KindWrite); len(w) == 0 || w[0].Msg.Register.Entries[0].Result.Error != "" {
		t.Errorf("%v are sent", kindsOf(r.fx.Sends))
	}
}

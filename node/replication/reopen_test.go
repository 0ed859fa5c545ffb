package replication

import (
	"testing"
	"time"

	"skep/grid"
)

// closedMember makes the second of three members, whose owner has closed the register of a job of one task.
func closedMember(t *testing.T, end *grid.Entry) *Register {
	t.Helper()
	r := newRegister(second, []grid.NodeID{self, second, third}, 1, grid.RegisterState{})
	for _, g := range []grid.RegisterMessage{{Epoch: 1, Entries: []grid.Entry{*end}}, {Epoch: 1, Done: true}} {
		if a, _ := r.Write(self, &g, nil); a != grid.RegisterOK {
			t.Fatalf("the owner's write is answered with %v", a)
		}
	}
	return r
}

// retryOf is the entry by which a task is run again after its first end.
func retryOf(end *grid.Entry) grid.Entry {
	e := *end
	e.Round, e.Again, e.RetriedAt, e.RetryEpoch = 1, 1, 2, 1
	return e
}

// Regression: a close that was written before the register was opened again, and comes after that, is void. It closed
// the register, and the task that was run again never ended.
func TestLateCloseIsVoid(t *testing.T) {
	end := &grid.Entry{Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{Exit: 1}}
	r := closedMember(t, end)
	r.Write(self, &grid.RegisterMessage{Epoch: 1, Opened: 1, Entries: []grid.Entry{retryOf(end)}}, nil)
	if r.State().Done {
		t.Fatal("a register that was opened is closed")
	}
	r.Write(self, &grid.RegisterMessage{Epoch: 1, Done: true}, nil)
	if v, _ := r.Value(0); r.State().Done || !v.Open() {
		t.Errorf("after a late close: closed %v, round %d", r.State().Done, v.Round)
	}
	if r.Write(self, &grid.RegisterMessage{Epoch: 1, Opened: 1, Done: true}, nil); !r.State().Done {
		t.Error("the next close does not count")
	}
}

// An owner that does not know that another member has opened the register may still tell that it is closed. That member
// goes on with its campaign, and takes the entries.
func TestLateCloseEndsNoCampaign(t *testing.T) {
	end := grid.Entry{Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{Exit: 1}}
	r := newRegister(second, []grid.NodeID{self, second, third}, 1, grid.RegisterState{})
	r.Write(self, &grid.RegisterMessage{Epoch: 1}, nil)
	r.open(1)
	r.Campaign(0)
	a, written := r.Write(self, &grid.RegisterMessage{Epoch: 1, Entries: []grid.Entry{end}, Done: true}, nil)
	if a != grid.RegisterOK || len(written) != 1 || r.CampaignEpoch() != 2 || r.State().Done {
		t.Errorf("answer %v, %d entries, campaign for epoch %d, closed %v", a, len(written), r.CampaignEpoch(),
			r.State().Done)
	}
	r.Write(self, &grid.RegisterMessage{Epoch: 1, Opened: 1}, nil)
	if r.CampaignEpoch() != 0 {
		t.Error("the campaign goes on, and the owner has opened the register too")
	}
}

// A member that campaigns since it has opened the register heeds no answer that others gave before they knew that.
func TestLateOutcomeIsVoid(t *testing.T) {
	end := &grid.Entry{Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{Exit: 1}, Epoch: 1}
	r := closedMember(t, end)
	r.open(1)
	r.Campaign(0)
	late := grid.RegisterMessage{Epoch: r.CampaignEpoch(), Answer: grid.RegisterDone, Owner: self, Next: 2,
		Entries: []grid.Entry{*end}}
	if got := r.VoteReceived(third, &late, 1); got != CampaignOpen || r.State().Done {
		t.Fatalf("an answer about an earlier close: outcome %v, closed %v", got, r.State().Done)
	}
	vote := late
	vote.Answer, vote.Opened = grid.RegisterOK, 1
	if got := r.VoteReceived(third, &vote, 1); got != CampaignWon || r.State().Opened != 1 {
		t.Errorf("the vote that follows: outcome %v, opened %d times", got, r.State().Opened)
	}
}

// Regression: a member that does not know of an opening campaigns. A voter knows of it, and a member that does not says
// that the job is closed. The candidate took that outcome for the one after the opening, and said so to all: the task
// that was run again never ended.
func TestOutcomeBeforeAnOpeningAVoterKnows(t *testing.T) {
	for name, answer := range map[string]grid.RegisterAnswer{"closed": grid.RegisterDone, "gone": grid.RegisterGone} {
		end := &grid.Entry{Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{Exit: 1}, Epoch: 1}
		fourth, fifth := grid.NodeID{4}, grid.NodeID{5}
		r := newRegister(second, []grid.NodeID{self, second, third, fourth, fifth}, 1, grid.RegisterState{})
		r.Write(self, &grid.RegisterMessage{Epoch: 1, Entries: []grid.Entry{*end}}, nil)
		r.Campaign(0)
		vote := grid.RegisterMessage{Epoch: 2, Answer: grid.RegisterOK, Owner: self, Opened: 1, Next: 2,
			Entries: []grid.Entry{retryOf(end)}}
		vote.Entries[0].Epoch = 1
		r.VoteReceived(third, &vote, 1)
		late := grid.RegisterMessage{Epoch: 2, Answer: answer, Owner: self, Next: 2, Entries: []grid.Entry{*end}}
		if got := r.VoteReceived(fourth, &late, 1); got != CampaignOpen || r.State().Done || r.AwaitsOutcome() {
			t.Fatalf("%s before the opening: outcome %v, closed %v", name, got, r.State().Done)
		}
		var ask grid.RegisterMessage
		if r.VoteRequest(3, &ask) && ask.Opened != 1 {
			t.Errorf("%s: asked again about opening %d, want 1", name, ask.Opened)
		}
		vote.Entries = nil
		if got := r.VoteReceived(fifth, &vote, 1); got != CampaignWon || r.State().Opened != 1 {
			t.Errorf("%s: the votes of others: outcome %v, opened %d times", name, got, r.State().Opened)
		}
		if v, _ := r.Value(0); !v.Open() {
			t.Errorf("%s: the new owner does not know that the task is run again", name)
		}
	}
}

// The owner of a closed register does not list it in keepalives, and a member may have voted for another one since. So
// it has to be answered anew before it acts on a register that is opened again.
func TestLeaseOfReopenedRegisterBeginsAnew(t *testing.T) {
	s := newReplicas()
	r := owned(t, s, 1, second)
	other := owned(t, s, 2, second)
	closed := start.Add(time.Second)
	r.Close()
	s.keepaliveAnswered(t, closed, second)
	if !other.MayAct(start.Add(lease)) {
		t.Fatal("the answer to the keepalive renews no lease")
	}
	opened := closed.Add(time.Second)
	var fx grid.Effects
	if r.Reopen(opened, &fx); r.MayAct(opened) {
		t.Error("it acts on a register that no keepalive lists since its close")
	}
	if s.keepaliveAnswered(t, opened.Add(time.Second), second); !r.MayAct(opened.Add(time.Second)) {
		t.Error("it does not act on a register that a member has confirmed since it was opened")
	}
}

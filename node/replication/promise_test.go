package replication

import (
	"testing"
	"time"

	"skep/grid"
)

// secondMember is the second of three members of a register that the first owns. It has accepted the owner's epoch at
// the start.
func secondMember(t *testing.T) (*Replica, grid.RegisterRecord) {
	t.Helper()
	s := new(NewReplicas(Config{Self: second, Boot: 1, Lease: lease}, grid.Wall{}, grid.NewRand(1, 1)))
	r := s.Add(grid.JobID{Origin: self}, &grid.JobSpec{Count: 1}, 0, []grid.NodeID{self, second, third},
		grid.RegisterState{})
	var fx grid.Effects
	if a := r.Write(start, self, &grid.RegisterMessage{Epoch: 1}, &fx); a != grid.RegisterOK {
		t.Fatalf("the owner's first write is answered with %v", a)
	}
	return r, saved(t, &fx)
}

// saved is the register that the effects save.
func saved(t *testing.T, fx *grid.Effects) grid.RegisterRecord {
	t.Helper()
	if len(fx.Saves) != 1 || fx.Saves[0].Kind != grid.RecRegister || fx.Saves[0].Later {
		t.Fatalf("%+v are saved, want the register, before what is sent", fx.Saves)
	}
	return fx.Saves[0].Register
}

// restarted is a member after a restart, from what it has saved. The third member tells it that it has forgotten
// nothing.
func restarted(now grid.Time, g *grid.RegisterRecord) *Replica {
	s := new(NewReplicas(Config{Self: second, Boot: 2, Lease: lease}, grid.Wall{}, grid.NewRand(1, 2)))
	r := s.Add(g.ID, &grid.JobSpec{Count: 1}, 0, g.Members, grid.RegisterState{Promised: g.Promised,
		VotedFor: g.VotedFor, Epoch: g.Epoch, Owner: g.Owner, Done: g.Done, Opened: g.Opened})
	r.Resume(now)
	s.HasTold(now, third, new(grid.Effects))
	return r
}

// voted is a member's answer to a campaign for an epoch.
func voted(t *testing.T, r *Replica, now grid.Time, from grid.NodeID, epoch uint32,
	fx *grid.Effects) grid.RegisterAnswer {
	t.Helper()
	r.Vote(now, from, &grid.RegisterMessage{Job: r.id, Epoch: epoch}, fx)
	if len(fx.Sends) != 1 || fx.Sends[0].To != from || fx.Sends[0].Msg.Kind != grid.KindVote {
		t.Fatalf("%+v are sent, want a vote", fx.Sends)
	}
	return fx.Sends[0].Msg.Register.Answer
}

// What a member has promised is saved with the answer, and holds after a restart: that it follows an owner, and for
// whom it has voted.
func TestPromisesAreSaved(t *testing.T) {
	r, g := secondMember(t)
	if g.Epoch != 1 || g.Owner != self || g.Promised != 1 {
		t.Errorf("after the owner's write %+v is saved", g)
	}
	now := start.Add(2 * lease)
	var fx grid.Effects
	if a := voted(t, r, now, third, 2, &fx); a != grid.RegisterOK {
		t.Fatalf("the vote is %v", a)
	}
	if g = saved(t, &fx); g.Promised != 2 || g.VotedFor != third || g.Epoch != 1 {
		t.Errorf("after the vote %+v is saved", g)
	}
	r = restarted(now, &g)
	if a := r.Write(now, self, &grid.RegisterMessage{Epoch: 1}, new(grid.Effects)); a != grid.RegisterHigher {
		t.Errorf("after the vote and a restart a write of the earlier owner is answered with %v", a)
	}
	if a := voted(t, r, now.Add(2*lease), self, 2, new(grid.Effects)); a != grid.RegisterHigher {
		t.Errorf("asked to vote for another in the same epoch it says %v", a)
	}
}

// A member votes for nobody else while the owner may act on what it answered, though the owner's clock be slow and its
// own fast by 5 %. After a restart it may have answered just before.
func TestNoVoteWhileTheOwnerMayAct(t *testing.T) {
	const drift = 0.05
	for _, restarts := range []bool{false, true} {
		r, g := secondMember(t)
		now := start
		if restarts {
			now = start.Add(time.Second)
			r = restarted(now, &g)
		}
		ends := float64(lease) / (1 - drift) // on a clock that is right, since the answer
		for _, c := range []struct {
			after time.Duration
			want  grid.RegisterAnswer
		}{{0, grid.RegisterLive}, {time.Duration(ends * (1 + drift)), grid.RegisterLive}, {2 * lease, grid.RegisterOK}} {
			if a := voted(t, r, now.Add(c.after), third, 2, new(grid.Effects)); a != c.want {
				t.Errorf("restarted %v, %v later: the vote is %v, want %v", restarts, c.after, a, c.want)
			}
		}
	}
}

// An owner that wins a higher epoch has renewed its own only if no voter has accepted another owner's writes: else
// another one has acted meanwhile, and what this one believes of its tasks is out of date.
func TestAnOwnerThatWasSucceededRenewsNothing(t *testing.T) {
	for accepted, want := range map[grid.NodeID]Outcome{self: CampaignRenewed, third: CampaignWon} {
		r := newRegister(self, []grid.NodeID{self, second, third}, 1, grid.RegisterState{})
		r.BecomeOwner(1)
		r.Campaign(2)
		a := grid.RegisterMessage{Epoch: 3, Answer: grid.RegisterOK, Owner: accepted, Next: 2}
		if got := r.VoteReceived(second, &a, 100); got != want {
			t.Errorf("the voter has accepted writes of %v: outcome %v, want %v", accepted.Short(), got, want)
		}
	}
}

// Of five members three decide: an entry is committed once two others have accepted it, and not by one that accepts it
// again.
func TestThreeOfFiveCommit(t *testing.T) {
	members := []grid.NodeID{self, second, third, {4}, {5}}
	r := newRegister(self, members, 1, grid.RegisterState{})
	r.BecomeOwner(1)
	accept := func(place int) (committed []uint32) {
		t.Helper()
		var g grid.RegisterMessage
		if !r.NextWrite(place, &g) {
			t.Fatalf("there is nothing to write to member %d", place)
		}
		g.Answer = grid.RegisterOK
		committed, _ = r.WriteAnswered(members[place], &g, nil)
		return committed
	}
	for _, place := range []int{1, 2} { // the epoch
		accept(place)
	}
	r.Propose(&grid.Entry{Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{}})
	for _, place := range []int{1, 1} {
		if committed := accept(place); len(committed) > 0 {
			t.Error("two members have committed it")
		}
		r.ResetProgress(place)
		accept(place) // the epoch again
	}
	if committed := accept(2); len(committed) != 1 {
		t.Error("three members have not committed it")
	}
}

// A new owner takes of each entry the one of the highest epoch, whichever voter was last; and it does not act before a
// majority has accepted that in its own epoch.
func TestANewOwnerCommitsWhatItInherits(t *testing.T) {
	members := []grid.NodeID{self, second, third, {4}, {5}}
	r := newRegister(self, members, 1, grid.RegisterState{})
	r.BecomeOwner(1)
	r.Campaign(3)
	outcome := CampaignOpen
	for n, epoch := range []uint32{3, 2} {
		e := grid.Entry{Epoch: epoch, Attempt: grid.Attempt{Epoch: epoch, N: 1}, Result: &grid.Result{}}
		a := grid.RegisterMessage{Epoch: 4, Answer: grid.RegisterOK, Owner: third, Next: 2, Entries: []grid.Entry{e}}
		outcome = r.VoteReceived(members[1+n], &a, 100)
	}
	if v, _ := r.Value(0); outcome != CampaignWon || v.Attempt.Epoch != 3 {
		t.Fatalf("outcome %v, attempt %v: want that of epoch 3", outcome, v.Attempt)
	}
	for n, place := range []int{1, 2, 1, 2} { // the epoch, then the entry
		if r.Ready() {
			t.Errorf("it may act after %d answers", n)
		}
		var g grid.RegisterMessage
		if !r.NextWrite(place, &g) {
			t.Fatalf("there is nothing to write to member %d", place)
		}
		g.Answer = grid.RegisterOK
		r.WriteAnswered(members[place], &g, nil)
	}
	if !r.Ready() {
		t.Error("it may not act though a majority has accepted all")
	}
}

// A repeated answer to an earlier write says nothing of the one under way.
func TestAnAnswerIsToItsWrite(t *testing.T) {
	r := newRegister(self, []grid.NodeID{self, second, third}, 1, grid.RegisterState{})
	r.BecomeOwner(1)
	var epoch, entry grid.RegisterMessage
	r.NextWrite(1, &epoch)
	epoch.Answer = grid.RegisterOK
	r.WriteAnswered(second, &epoch, nil)
	r.Propose(&grid.Entry{Attempt: grid.Attempt{Epoch: 1, N: 1}, Result: &grid.Result{}})
	r.NextWrite(1, &entry)
	if committed, valid := r.WriteAnswered(second, &epoch, nil); valid || len(committed) > 0 {
		t.Errorf("after the earlier answer once more: valid %v, committed %v", valid, committed)
	}
	entry.Answer = grid.RegisterOK
	if committed, valid := r.WriteAnswered(second, &entry, nil); !valid || len(committed) != 1 {
		t.Errorf("after the answer: valid %v, committed %v", valid, committed)
	}
}

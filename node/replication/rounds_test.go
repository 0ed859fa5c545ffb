package replication

import (
	"testing"

	"skep/grid"
)

// failed is the entry of a failed end of a task after which it goes on.
func failed(i, round uint32, text int) *grid.Entry {
	return &grid.Entry{Index: i, Round: round, Again: 1,
		Result: &grid.Result{Cause: grid.Exited, Exit: 1, Stderr: grid.Output{Inline: make([]byte, text)}}}
}

// ownerOf makes a register of so many tasks whose second member has accepted the epoch.
func ownerOf(t *testing.T, tasks int) *Register {
	t.Helper()
	r := newRegister(self, []grid.NodeID{self, second, third}, tasks, grid.RegisterState{})
	r.BecomeOwner(0)
	r.wantWrite(t, 1, 0)
	r.accept(t, second)
	return r
}

// wantWrite takes the next write to a member, and checks how many entries it has.
func (r *Register) wantWrite(t *testing.T, place, entries int) (g grid.RegisterMessage) {
	t.Helper()
	if !r.NextWrite(place, &g) || len(g.Entries) != entries {
		t.Fatalf("%d entries are written, want %d", len(g.Entries), entries)
	}
	return g
}

// accept has a member accept the write under way.
func (r *Register) accept(t *testing.T, id grid.NodeID) {
	t.Helper()
	g := grid.RegisterMessage{Epoch: 1, Seq: r.ownership.progress[r.Place(id)].seq, Answer: grid.RegisterOK}
	if _, valid := r.WriteAnswered(id, &g, nil); !valid {
		t.Fatal("the answer does not count")
	}
}

func weight(entries []grid.Entry) (n int) {
	for k := range entries {
		n += entries[k].Weight()
	}
	return n
}

// Regression: a write is repeated with the entries that it had first, though later rounds have succeeded them. With
// these it outgrew its bound, and the member refused each repeat.
func TestRepeatedWriteKeepsItsBound(t *testing.T) {
	r := ownerOf(t, 100)
	for i := range uint32(100) {
		r.Propose(failed(i, 0, 10))
	}
	first := r.wantWrite(t, 1, 100)
	for i := range uint32(100) {
		r.Propose(failed(i, 1, 10*int(grid.KiB)))
	}
	var again grid.RegisterMessage
	if !r.RepeatWrite(1, &again) || len(again.Entries) != 100 || weight(again.Entries) != weight(first.Entries) {
		t.Errorf("repeated with %d entries of %d bytes, want 100 of %d", len(again.Entries), weight(again.Entries),
			weight(first.Entries))
	}
	r.accept(t, second)
	for i := range uint32(100) { // the member has accepted the first round only
		if _, committed := r.Value(i); committed {
			t.Fatalf("entry %d: the round that was not written is committed", i)
		}
	}
	for written := 0; written < 100; r.accept(t, second) {
		var g grid.RegisterMessage
		if !r.NextWrite(1, &g) || weight(g.Entries) > int(grid.MaxEntriesSize) {
			t.Fatalf("after %d entries of the second round: %d bytes", written, weight(g.Entries))
		}
		written += len(g.Entries)
	}
	if v, committed := r.Value(99); v.Round != 1 || !committed {
		t.Errorf("the last entry is of round %d, committed %v", v.Round, committed)
	}
}

// Regression: rounds do not queue up for a member that is away, and a message has each entry once.
func TestQueuedOnce(t *testing.T) {
	r := ownerOf(t, 2)
	r.wantWrite(t, 2, 0)
	for round := range uint32(100) {
		r.Propose(failed(0, round, 10))
		r.Propose(failed(1, round, 10))
	}
	if n := len(r.ownership.progress[2].queue); n != 2 {
		t.Errorf("%d entries are queued for a member that is away, want one of each task", n)
	}
	r.accept(t, third)
	g := r.wantWrite(t, 2, 2)
	if g.Entries[0].Index == g.Entries[1].Index {
		t.Error("a message has an entry twice")
	}
	for round := range uint32(3) {
		r.Propose(failed(0, 100+round, 10))
	}
	// one that is refused for want of quota is queued again, and so is all when the member has forgotten
	full := grid.RegisterMessage{Epoch: 1, Seq: g.Seq, Answer: grid.RegisterFull}
	if _, valid := r.WriteAnswered(third, &full, nil); !valid {
		t.Fatal("the answer does not count")
	}
	r.Retry(2)
	r.wantWrite(t, 2, 2)
	r.ResetProgress(2)
	r.wantWrite(t, 2, 0)
	r.accept(t, third)
	r.wantWrite(t, 2, 2)
	r.accept(t, third)
	if !r.UpToDate(2) {
		t.Error("something is left to write")
	}
}

// A member to which the owner is alive gives no vote, and others may do all the same: with a majority of them the owner
// can write nothing any more, so the campaign is won, whoever answered first.
func TestCampaignIsWonBesideAVoterThatHearsTheOwner(t *testing.T) {
	fourth, fifth := grid.NodeID{4}, grid.NodeID{5}
	r := newRegister(second, []grid.NodeID{self, second, third, fourth, fifth}, 1, grid.RegisterState{})
	r.Write(self, &grid.RegisterMessage{Epoch: 1}, nil)
	r.Campaign(0)
	for _, x := range []struct {
		from   grid.NodeID
		answer grid.RegisterAnswer
		want   Outcome
	}{
		{self, grid.RegisterOK, CampaignOpen}, {third, grid.RegisterLive, CampaignRefused},
		{fourth, grid.RegisterOK, CampaignWon},
	} {
		a := grid.RegisterMessage{Epoch: 2, Answer: x.answer, Next: 1}
		if got := r.VoteReceived(x.from, &a, 1); got != x.want {
			t.Fatalf("after the answer of %v: outcome %v, want %v", x.from, got, x.want)
		}
	}
}

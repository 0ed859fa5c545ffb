package replication

import (
	"testing"

	"skep/grid"
)

// Of which tasks of a job may have been offered a new owner takes none away that may have been as far as it knows: not
// if a voter says so in an epoch of its own making, nor if it says that it knows of none. Who takes that over writes it
// to the others before it goes by it.
func TestAVoterReleasesNoTask(t *testing.T) {
	members := []grid.NodeID{{1}, {2}, {3}}
	entry := func(epoch, round uint32, o grid.OfferedTasks) *grid.Entry {
		return &grid.Entry{Index: 201, Epoch: epoch, Round: round, Again: 1, Result: &grid.Result{Cause: grid.Lost},
			Offered: &o}
	}
	for name, c := range map[string]struct {
		own, voted     *grid.Entry
		offered, other uint32 // a task that may have been, and one that may not
	}{
		"of a made-up epoch": {entry(1, 0, grid.OfferedTasks{Below: 128}),
			entry(9, 0, grid.OfferedTasks{Below: 1}), 127, 128},
		"of the same round": {entry(1, 3, grid.OfferedTasks{Below: 128}),
			entry(9, 3, grid.OfferedTasks{Below: 128, Free: []grid.TaskSpan{{From: 0, To: 128}}}), 5, 128},
		"none":  {entry(1, 0, grid.OfferedTasks{Below: 128}), nil, 127, 128},
		"first": {nil, entry(1, 0, grid.OfferedTasks{Below: 64, Free: []grid.TaskSpan{{From: 1, To: 64}}}), 63, 64},
		"newer": {entry(1, 0, grid.OfferedTasks{Below: 128}), entry(1, 1, grid.OfferedTasks{Below: 192}), 191, 192},
	} {
		r := makeRegister(members[1], members, 200, 1, grid.RegisterState{Promised: 1, VotedFor: members[0], Epoch: 1,
			Owner: members[0]})
		if c.own != nil {
			r.Restore(c.own, true)
		}
		r.Campaign(0)
		vote := grid.RegisterMessage{Epoch: r.CampaignEpoch(), Answer: grid.RegisterOK, Next: 202}
		if c.voted != nil {
			vote.Entries = []grid.Entry{*c.voted}
		}
		if x := r.VoteReceived(members[2], &vote, 1); x != CampaignWon {
			t.Fatalf("%s: outcome %d of the campaign", name, x)
		}
		v, committed := r.Value(201)
		if !v.Offered.Has(c.offered) || v.Offered.Has(c.other) {
			t.Errorf("%s: the new owner has %+v", name, v.Offered)
		}
		if committed != (c.voted == nil) {
			t.Errorf("%s: committed is %v", name, committed)
		}
	}
}

package replication

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// A first acceptance that comes late has a keepalive sent at once, as little of the lease may be left. When a member
// answers late about many registers, keepalives follow each other by no less than what counts as late: each is over all
// registers shared with it.
func TestLateAcceptancesShareAKeepalive(t *testing.T) {
	const registers, apart = 150, 10 * time.Millisecond
	s := newReplicas()
	writes := make(map[*Replica]grid.RegisterMessage)
	for k := range registers {
		r := s.Add(grid.JobID{Origin: self, Nonce: [10]byte{byte(k)}}, &grid.JobSpec{Count: 1}, 0,
			[]grid.NodeID{self, second, third}, grid.RegisterState{})
		r.BecomeOwner(s.nextTerm())
		r.MarkDirty()
		var fx grid.Effects
		s.SendWrites(start, &fx)
		for i := range fx.Sends {
			if fx.Sends[i].To == second {
				writes[r] = fx.Sends[i].Msg.Register
			}
		}
	}
	now, counts := start.Add(lease/6), []uint32(nil)
	for _, r := range s.With(second) {
		g := grid.RegisterMessage{Job: r.id, Epoch: writes[r].Epoch, Seq: writes[r].Seq, Answer: grid.RegisterOK}
		var fx grid.Effects
		if _, valid := r.Answered(now, second, &g, nil, &fx); !valid {
			t.Fatal("the answer does not count")
		}
		for i := range fx.Sends {
			m := &fx.Sends[i].Msg
			counts = append(counts, m.Register.Count)
			m.Register.Answer = grid.RegisterOK
			s.KeepaliveAnswered(now, second, m, &fx)
		}
		now = now.Add(apart)
	}
	// the answers take a quarter of a lease: the second keepalive comes with the 101st
	if !slices.Equal(counts, []uint32{1, 101}) {
		t.Errorf("keepalives of %v registers: want two, of 1 and of 101", counts)
	}
	if until, want := s.With(second)[100].MayActUntil(), start.Add(lease/6+lease/6+lease); until != want {
		t.Errorf("the lease is until %v, want %v: from the keepalive", until, want)
	}
}

package replication

import (
	"math"
	"testing"
	"time"

	"skep/grid"
)

// What a member is told that asks whether the ends that it knows are current, by what the others answer: three members
// and five.
func TestOpenedIsDecidedByAMajority(t *testing.T) {
	const open = grid.RegisterChangeKind(0) // not decided yet
	says := func(a grid.RegisterAnswer, epoch, opened uint32) grid.RegisterMessage {
		return grid.RegisterMessage{Answer: a, Epoch: epoch, Opened: opened}
	}
	closed, gone := says(grid.RegisterDone, 0, 0), says(grid.RegisterGone, 0, 0)
	lost, alive := says(grid.RegisterUnknown, 0, 0), says(grid.RegisterLive, 0, 0)
	retried, lie := says(grid.RegisterHigher, 2, 1), says(grid.RegisterDone, 0, math.MaxUint32)
	for _, x := range []struct {
		name        string
		others      int
		answers     []grid.RegisterMessage // of the other members, in order
		atOnce, end grid.RegisterChangeKind
	}{
		{"nobody answers", 2, nil, open, grid.RegisterUncertain},
		{"one agrees", 2, []grid.RegisterMessage{closed}, grid.RegisterCurrent, open},
		{"one has evicted it", 2, []grid.RegisterMessage{gone}, grid.RegisterCurrent, open},
		{"one has lost its data", 2, []grid.RegisterMessage{lost}, open, grid.RegisterUncertain},
		{"both have lost their data", 2, []grid.RegisterMessage{lost, lost}, open, grid.RegisterUncertain},
		{"one has lost its data, one agrees", 2, []grid.RegisterMessage{lost, closed}, grid.RegisterCurrent, open},
		{"one has lost its data, one has opened it", 2, []grid.RegisterMessage{lost, retried}, open, grid.RegisterOutdated},
		{"one says nothing of openings", 2, []grid.RegisterMessage{alive}, open, grid.RegisterUncertain},
		{"both have opened it", 2, []grid.RegisterMessage{retried, retried}, grid.RegisterOutdated, open},
		{"one lies, one agrees", 2, []grid.RegisterMessage{lie, closed}, grid.RegisterCurrent, open},
		{"one lies", 2, []grid.RegisterMessage{lie}, open, grid.RegisterOutdated},
		{"one of four agrees", 4, []grid.RegisterMessage{closed}, open, grid.RegisterUncertain},
		{"two of four lie", 4, []grid.RegisterMessage{lie, closed, lie, closed}, grid.RegisterCurrent, open},
		{"three of four have opened it", 4, []grid.RegisterMessage{retried, retried, closed, retried},
			grid.RegisterOutdated, open},
		{"two have lost their data, one has opened it", 4, []grid.RegisterMessage{lost, closed, lost, retried}, open,
			grid.RegisterOutdated},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newReplicas()
			members := []grid.NodeID{self}
			for k := range x.others {
				members = append(members, grid.NodeID{byte(k + 2)})
			}
			r := s.Add(grid.JobID{Origin: self}, &grid.JobSpec{Count: 1}, 0, members, grid.RegisterState{})
			r.BecomeOwner(s.nextTerm())
			r.Close()
			var fx grid.Effects
			until := start.Add(5 * time.Second)
			r.AskOpened(7, until, members, &fx)
			if len(fx.Sends) != x.others {
				t.Fatalf("%d members are asked, want %d", len(fx.Sends), x.others)
			}
			for k, a := range x.answers {
				a.Seq = fx.Sends[k].Msg.Register.Seq
				for range 2 { // it arrives twice
					if !r.OpenedAnswered(members[k+1], &a) {
						t.Fatal("the answer is taken for one to a campaign")
					}
				}
			}
			if got := told(t, s); got != x.atOnce {
				t.Errorf("told %v at once, want %v", got, x.atOnce)
			}
			r.RepeatOpened(until-1, members, &fx)
			if got := told(t, s); got != open {
				t.Errorf("told %v before the deadline", got)
			}
			r.RepeatOpened(until, members, &fx)
			if got := told(t, s); got != x.end {
				t.Errorf("told %v at the deadline, want %v", got, x.end)
			}
			if len(s.Asking()) > 0 {
				t.Error("a question is left")
			}
		})
	}
}

// told returns what callers were told, once at most; 0 = nothing.
func told(t *testing.T, s *Replicas) (k grid.RegisterChangeKind) {
	t.Helper()
	for {
		x, ok := s.NextChange()
		if !ok {
			return k
		}
		if x.Caller == 0 {
			continue
		}
		if k != 0 {
			t.Errorf("told %v, and %v", k, x.Kind)
		}
		k = x.Kind
	}
}

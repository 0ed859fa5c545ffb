package node

import (
	"testing"
	"time"

	"skep/grid"
)

// A job is not refused for a deadline that one of its options meets, whatever the others are worth; and its task is
// offered as that one.
func TestOptionsThatMeetTheDeadlineComeFirst(t *testing.T) {
	for _, c := range []struct {
		deadline time.Duration
		option   uint8
	}{{20 * time.Second, 1}, {2 * time.Minute, 2}} {
		r := wideRuns(t, time.Minute, 8)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			s.Class = "x"
			elsewhere(s)
			s.Rules.Deadline = grid.Deadline{At: c.deadline}
			ways(way(8, 10, 1), way(2, 1, 100))(s)
		}))
		if !r.knows(jobID(1)) {
			t.Fatalf("deadline %v: refused though an option takes 6 s", c.deadline)
		}
		answerOptions(r, grid.OptionState{ECT: 6 * time.Second}, grid.OptionState{ECT: time.Minute})
		if got := r.one(grid.KindOffer).Msg.Offer.Option; got != c.option {
			t.Errorf("deadline %v: offered as option %d, want %d", c.deadline, got, c.option)
		}
	}
}

package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// A node that asks for work gets a task as an option that fits what it has free, of those the one that ends first for
// its value, though its ad had another one fit that would end sooner.
func TestPulledTasksRunAsAnOptionThatFits(t *testing.T) {
	for name, x := range map[string]struct {
		free  float64 // cores of the node that asks
		value float64 // of the second option
		want  uint8   // 0 = it gets nothing
	}{
		"all is free":       {8, 1, 1},
		"three cores":       {3, 1, 2},
		"one core":          {1, 1, 0},
		"the second counts": {8, 9, 2},
	} {
		r := newRig(t, func(c *Config) { c.Pull = true })
		joinWide(r, fastID, 8, 8)
		joinWide(r, slowID, 8, 8)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			elsewhere(s)
			ways(way(8, 4, 1), way(2, 1, x.value))(s)
			s.Policy = "max_min"
		}))
		const later = 100 * time.Second
		polls := slices.Clone(r.sent(grid.KindPoll))
		for _, p := range polls {
			r.deliver(p.To, grid.KindState, func(m *grid.Message) {
				m.State = grid.State{ID: p.Msg.Poll.ID, Backlog: later, ECT: later + time.Second, Speed: 1, Cores: 8 * grid.CPU,
					Mine: 1, Options: []grid.OptionState{{Ready: later, ECT: later + time.Second},
						{Ready: later, ECT: later + 4*time.Second}}}
			})
		}
		if len(polls) != 2 || len(r.sent(grid.KindOffer)) > 0 {
			t.Fatalf("%s: %d polls, %d offers: want two that are answered, and the task kept", name, len(polls),
				len(r.sent(grid.KindOffer)))
		}
		r.deliver(slowID, grid.KindPull, func(m *grid.Message) { m.Poll.Needs = way(x.free, 1, 1).Resources })
		var got uint8
		for _, o := range r.sent(grid.KindOffer) {
			if got = o.Msg.Offer.Option; o.To != slowID || !o.Msg.Offer.Pulled {
				t.Errorf("%s: offered to %v, pulled: %t", name, o.To.Short(), o.Msg.Offer.Pulled)
			}
		}
		if got != x.want {
			t.Errorf("%s: offered as option %d, want %d", name, got, x.want)
		}
	}
}

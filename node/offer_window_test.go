package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// contest is a node of eight cores, and jobs of two others that can run on eight or on two.
type contest struct {
	*rig
	spec map[grid.NodeID]*grid.JobSpec
}

func newContest(t *testing.T, change func(*Config)) *contest {
	t.Helper()
	r := newRig(t, func(c *Config) {
		wide(c)
		if change != nil {
			change(c)
		}
	})
	c := &contest{rig: r, spec: map[grid.NodeID]*grid.JobSpec{}}
	for _, id := range []grid.NodeID{fastID, slowID} {
		r.join(id, 1, "plan9")
		c.spec[id] = spec(func(s *grid.JobSpec) { s.Count = 9; ways(way(8, 4, 1), way(2, 1, 1))(s) })
	}
	c.spec[slowID].Rules.Bid = 4 * grid.UsualBid
	return c
}

// polls has an owner ask about a task.
func (c *contest) polls(from grid.NodeID) {
	c.t.Helper()
	s := c.spec[from]
	c.deliver(from, grid.KindPoll, func(m *grid.Message) {
		m.Poll = grid.Poll{ID: 7, Class: grid.ClassOf(s), Needs: s.Needs.Resources, Speed: 1, Cores: grid.CPU}
		for _, o := range s.Needs.Options {
			m.Poll.Options = append(m.Poll.Options, grid.PollOption{Needs: o.Resources, Speedup: o.Speedup})
		}
	})
}

// offers has an owner offer an attempt of a task as an option, and returns it.
func (c *contest) offers(from grid.NodeID, index, n uint32, option uint8) grid.AttemptID {
	c.t.Helper()
	id := grid.AttemptID{Task: grid.TaskID{Job: grid.JobID{Origin: from, Nonce: [10]byte{1}}, Index: index},
		Attempt: grid.Attempt{Epoch: 1, N: n}}
	c.deliver(from, grid.KindOffer, func(m *grid.Message) {
		s := c.spec[from]
		m.Offer = grid.Offer{ID: id, Spec: s, Class: grid.ClassOf(s), Lease: time.Minute, Option: option,
			Stamp: m.Offer.Stamp}
	})
	return id
}

// told is what the last step tells of an attempt.
func (c *contest) told(id grid.AttemptID) *grid.Message {
	for i := range c.fx.Sends {
		if m := &c.fx.Sends[i].Msg; (m.Kind == grid.KindAccept || m.Kind == grid.KindRefuse) &&
			slices.Contains(m.Attempts, id) {
			return m
		}
	}
	return &grid.Message{}
}

// Of two offers for the same cores the node takes the one that is worth more, though the other came first, as soon as
// both are there. The other is refused with the price of a core, which is above its worth, and with what is left.
func TestTheOfferThatIsWorthMoreIsTaken(t *testing.T) {
	c := newContest(t, nil)
	c.polls(fastID)
	c.polls(slowID)
	low := c.offers(fastID, 0, 1, 1)
	if m := c.told(low); m.Kind != 0 || len(c.fx.Starts) > 0 {
		t.Fatalf("the first offer is answered with %v while another is to come", m.Kind)
	}
	high := c.offers(slowID, 0, 1, 1)
	if m := c.told(high); m.Kind != grid.KindAccept || len(c.fx.Starts) != 1 || c.fx.Starts[0].Attempt != high {
		t.Errorf("the offer with the higher bid: %v, %d starts: want it taken and started", m.Kind, len(c.fx.Starts))
	}
	m := c.told(low)
	if m.Kind != grid.KindRefuse || m.Refusal.Why != grid.WhyWorth || m.Prices == nil {
		t.Fatalf("the offer with the lower bid: %v %v, prices %v", m.Kind, m.Refusal, m.Prices)
	}
	p := m.Prices
	if p.Of(way(8, 4, 1).Resources) <= p.Worth || p.Left.CPU != 0 || p.Offers != 2 || p.Check() != nil {
		t.Errorf("prices %+v: want eight cores to cost more than it is worth, none left, two offers", p)
	}
}

// Who offers alone, or what nobody else wants, waits for nothing: the offer is answered in its step. That is where
// nobody else has asked, has asked about what fits beside it, or has asked long ago; where what is offered is of a job
// without options, or of an owner that does not understand prices; and where no window is wanted.
func TestAnOfferAloneWaitsForNothing(t *testing.T) {
	for name, of := range map[string]func(*contest) uint8{
		"nobody else has asked": func(c *contest) uint8 { c.polls(fastID); return 1 },
		"what fits beside it": func(c *contest) uint8 {
			ways(way(6, 4, 1), way(2, 1, 1))(c.spec[slowID])
			c.polls(slowID)
			return 2
		},
		"long ago": func(c *contest) uint8 {
			c.polls(slowID)
			c.now = c.now.Add(51 * time.Millisecond)
			return 1
		},
		"it has asked again": func(c *contest) uint8 { c.polls(fastID); c.polls(fastID); return 1 },
		"no options": func(c *contest) uint8 {
			c.polls(slowID)
			c.spec[fastID] = spec(func(s *grid.JobSpec) { s.Count, s.Needs.CPU = 9, 8*grid.CPU })
			return 0
		},
		"without prices": func(c *contest) uint8 {
			c.joinAs(fastID, 1, "plan9", grid.AllFeatures&^(1<<grid.FeaturePrices))
			c.polls(slowID)
			return 1
		},
	} {
		c := newContest(t, nil)
		option := of(c)
		if id := c.offers(fastID, 0, 1, option); c.told(id).Kind != grid.KindAccept || len(c.fx.Starts) != 1 {
			t.Errorf("%s: answered with %v, %d starts: want it taken at once", name, c.told(id).Kind, len(c.fx.Starts))
		}
	}
	c := newContest(t, func(c *Config) { c.Order.OfferWindow = 0 })
	c.polls(slowID)
	if id := c.offers(fastID, 0, 1, 1); c.told(id).Kind != grid.KindAccept {
		t.Errorf("no window: answered with %v, want it taken at once", c.told(id).Kind)
	}
}

// A window closes 50 ms after the poll for which it is open, whether an offer follows or not.
func TestAWindowKeepsNoSlotIdleForLong(t *testing.T) {
	c := newContest(t, nil)
	c.polls(slowID)
	asked := c.now
	c.now = c.now.Add(20 * time.Millisecond)
	id := c.offers(fastID, 0, 1, 1)
	if c.told(id).Kind != 0 {
		t.Fatal("it is not gathered")
	}
	c.offers(fastID, 0, 1, 1) // repeated
	if c.told(id).Kind != 0 {
		t.Error("a repeated offer is answered")
	}
	c.pass(time.Second, grid.TimerIntake)
	if m := c.told(id); m.Kind != grid.KindAccept || len(c.fx.Starts) != 1 || c.now.Sub(asked) > 50*time.Millisecond {
		t.Errorf("after %v: %v, %d starts: want it taken after 50 ms", c.now.Sub(asked), m.Kind, len(c.fx.Starts))
	}
}

// A task is refused for prices once: its next offer is queued behind what was taken, though another owner has asked.
func TestATaskIsOutweighedOnce(t *testing.T) {
	c := newContest(t, nil)
	c.polls(fastID)
	c.polls(slowID)
	c.offers(fastID, 0, 1, 1)
	high := c.offers(slowID, 0, 1, 1)
	c.step(grid.Event{Kind: grid.EvEnded, Attempt: high, Result: exitZero})
	c.polls(slowID)
	if id := c.offers(fastID, 0, 2, 1); c.told(id).Kind != grid.KindAccept || len(c.fx.Starts) != 1 {
		t.Errorf("offered again: %v, want it taken at once", c.told(id).Kind)
	}
}

// An owner that is refused for prices offers the task as another option that fits what is left and is worth its price,
// at the same node, or else to another node; and to the same node again if there is none.
func TestAnOwnerGoesByPrices(t *testing.T) {
	cores := func(n float64) grid.Resources { return way(n, 1, 1).Resources }
	for name, x := range map[string]struct {
		prices  grid.Prices
		another bool // node is there
		node    grid.NodeID
		option  uint8
	}{
		"room for the smaller one": {grid.Prices{CPU: 2, Worth: 10, Left: cores(3)}, true, fastID, 2},
		"no room":                  {grid.Prices{CPU: 2, Worth: 10, Left: cores(1)}, true, slowID, 1},
		"too dear":                 {grid.Prices{CPU: 6, Worth: 10, Left: cores(3)}, true, slowID, 1},
		"no other node":            {grid.Prices{CPU: 6, Worth: 10, Left: cores(1)}, false, fastID, 1},
		"no worth is told":         {grid.Prices{CPU: 6, Left: cores(8)}, true, fastID, 1},
	} {
		r := newRig(t, nil)
		joinWide(r, fastID, 8, 8)
		if x.another {
			joinWide(r, slowID, 8, 8)
		}
		answer := func() {
			for _, p := range slices.Clone(r.sent(grid.KindPoll)) {
				a := grid.State{ID: p.Msg.Poll.ID, ECT: time.Second, Speed: 1, Cores: 8 * grid.CPU, Mine: 1,
					Options: []grid.OptionState{{ECT: time.Second}, {ECT: 4 * time.Second}}}
				if p.To == slowID {
					a.Options = []grid.OptionState{{ECT: 9 * time.Second}, {ECT: 36 * time.Second}}
				}
				r.deliver(p.To, grid.KindState, func(m *grid.Message) { m.State = a })
			}
		}
		r.submit(jobID(1), spec(func(s *grid.JobSpec) { elsewhere(s); ways(way(8, 4, 1), way(2, 1, 1))(s) }))
		answer()
		first := r.one(grid.KindOffer)
		if first.To != fastID || first.Msg.Offer.Option != 1 {
			t.Fatalf("%s: first offered to %v as %d", name, first.To.Short(), first.Msg.Offer.Option)
		}
		id := first.Msg.Offer.ID
		r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
			m.Attempts, m.Prices, m.Refusal.Why = append(m.Attempts, id), &x.prices, grid.WhyWorth
		})
		answer()
		if o := r.one(grid.KindOffer); o.To != x.node || o.Msg.Offer.Option != x.option {
			t.Errorf("%s: offered to %v as option %d, want %v, %d", name, o.To.Short(), o.Msg.Offer.Option, x.node.Short(),
				x.option)
		}
	}
}

// A worker refuses a task for prices once. One that goes on with it, and says that it has room, is left alone for a
// while as after any other refusal, though there is no other node.
func TestPricesAreNotBelievedTwice(t *testing.T) {
	for _, left := range []float64{0, 8} {
		r := newRig(t, nil)
		joinWide(r, fastID, 8, 8)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) { elsewhere(s); ways(way(8, 4, 1), way(2, 1, 1))(s) }))
		offered := 0
		for range 4 {
			for _, p := range slices.Clone(r.sent(grid.KindPoll)) {
				r.deliver(p.To, grid.KindState, func(m *grid.Message) {
					m.State = grid.State{ID: p.Msg.Poll.ID, ECT: time.Second, Speed: 1, Cores: 8 * grid.CPU, Mine: 1,
						Options: []grid.OptionState{{ECT: time.Second}, {ECT: 4 * time.Second}}}
				})
			}
			sent := slices.Clone(r.sent(grid.KindOffer))
			if len(sent) == 0 {
				break
			}
			offered++
			r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
				m.Attempts, m.Refusal.Why = append(m.Attempts, sent[0].Msg.Offer.ID), grid.WhyWorth
				m.Prices = &grid.Prices{CPU: 1, Worth: 1e9, Left: way(left, 1, 1).Resources}
			})
		}
		if offered != 2 {
			t.Errorf("with %g cores left it was offered %d times at once: want twice", left, offered)
		}
	}
}

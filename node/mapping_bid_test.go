package node

import (
	"testing"
	"time"

	"skep/grid"
)

// fairRig is a mappingRig under the order fair, in which bids rise to the highest one within a minute.
func fairRig(t *testing.T, times map[string][]float64) *rig {
	return mappingRig(t, times, func(c *Config) { c.Order.Rule, c.Order.Ageing = "fair", time.Minute })
}

// submitBid submits a job of so many tasks that bids so many times the usual bid.
func (r *rig) submitBid(i byte, class string, bid grid.Bid, count uint32) {
	r.submit(jobID(i), spec(func(s *grid.JobSpec) {
		s.Policy, s.Class, s.Count, s.Rules.Bid = "min_min", class, count, bid*grid.UsualBid
		s.Needs.Labels = []grid.LabelNeed{{Key: "os", Values: []string{"linux"}}}
	}))
}

// At a mapping event the higher bid goes first, whatever the policy's rule says: min_min alone would place b. Under
// fifo bids do not count.
func TestMappingGoesByBid(t *testing.T) {
	times := map[string][]float64{"a": {4, 600}, "b": {3, 600}}
	for order, want := range map[string]string{"fair": "a", "bid": "a", "fifo": "b"} {
		r := mappingRig(t, times, func(c *Config) { c.Order.Rule = order })
		r.submitBid(1, "b", 1, 1)
		reply := r.mapAnswers(times, 0, 0)
		r.submitBid(2, "a", 3, 1)
		reply()
		if got := r.mapped(); got != [2]string{want} {
			t.Errorf("%s: offered %q, want %s to the fast node", order, got, want)
		}
	}
}

// Beside endless higher bids, of tasks that min_min prefers too, each task of a low bid starts within the ageing time
// and the task that runs then; and no more than one in that time.
func TestLowBidIsMappedBesideHigherOnes(t *testing.T) {
	times := map[string][]float64{"a": {4, 600}, "b": {3, 600}}
	r := fairRig(t, times)
	r.submitBid(1, "b", 8, 1)
	r.mapAnswers(times, 0, 0)()
	runs := r.one(grid.KindOffer)
	r.submitBid(2, "a", 1, 3)
	var starts []grid.Time
	for i := byte(3); i < 90; i++ {
		r.deliverFor(runs.To, grid.KindAccept, runs.Msg.Offer.ID, nil)
		id := runs.Msg.Offer.ID
		r.now += grid.Time(2900 * time.Millisecond)
		r.submitBid(i, "b", 8, 1)
		reply := r.mapAnswers(times, 0.1, 0)
		r.deliverFor(fastID, grid.KindResult, id, exitZero)
		reply()
		switch got := r.mapped(); got {
		case [2]string{"a"}:
			starts = append(starts, r.now)
		case [2]string{"b"}:
		default:
			t.Fatalf("offered %q, want one task to the fast node", got)
		}
		runs = r.one(grid.KindOffer)
	}
	if len(starts) != 3 {
		t.Fatalf("%d tasks of the low bid have started, want 3", len(starts))
	}
	for k, last := 0, grid.Time(0); k < len(starts); k++ {
		if gap := starts[k].Sub(last); gap < 55*time.Second || gap > time.Minute+4*time.Second {
			t.Errorf("start %d is %v after the last, want the ageing time of a minute, and a task of 3 s at most", k, gap)
		}
		last = starts[k]
	}
}

// A low bid whose offer is refused does not wait for the ageing time again: its next task is offered as soon as there
// is room.
func TestRefusedLowBidStaysUrgent(t *testing.T) {
	times := map[string][]float64{"a": {4, 600}, "b": {3, 600}}
	r := fairRig(t, times)
	r.deliver(slowID, grid.KindDigest, func(m *grid.Message) { // it fits no longer
		m.Digest = []grid.AdEntry{{Ad: &grid.Ad{Node: slowID, Seq: grid.Seq{Boot: 1, N: 2}, Speed: 1, Availability: 1}}}
	})
	r.submitBid(1, "b", 8, 1)
	r.mapAnswers(times, 0)()
	runs := r.one(grid.KindOffer)
	r.submitBid(2, "a", 1, 3)
	for i := byte(3); runs.Msg.Offer.Class == "b"; i++ {
		r.deliverFor(fastID, grid.KindAccept, runs.Msg.Offer.ID, nil)
		id := runs.Msg.Offer.ID
		r.now += grid.Time(2900 * time.Millisecond)
		r.submitBid(i, "b", 8, 1)
		reply := r.mapAnswers(times, 0.1)
		r.deliverFor(fastID, grid.KindResult, id, exitZero)
		reply()
		runs = r.one(grid.KindOffer)
	}
	first := runs.Msg.Offer.ID.Task
	r.deliverFor(fastID, grid.KindRefuse, runs.Msg.Offer.ID, nil)
	r.now += grid.Time(300 * time.Millisecond)
	r.submitBid(100, "b", 8, 1)
	r.mapAnswers(times, 0)()
	if o := r.one(grid.KindOffer).Msg.Offer; o.Class != "a" || o.ID.Task == first {
		t.Errorf("task %d of class %s is offered after the refusal, want the next one of a", o.ID.Task.Index, o.Class)
	}
}

package node

import (
	"slices"
	"testing"
	"time"

	"skep/grid"
)

// answersOptions answers the poll of the last step for a peer, with what it expects of each option.
func (r *rig) answersOptions(from grid.NodeID, options ...grid.OptionState) {
	r.t.Helper()
	for _, p := range slices.Clone(r.sent(grid.KindPoll)) {
		if p.To == from {
			s := grid.State{ID: p.Msg.Poll.ID, ECT: options[0].ECT, Speed: 1, Cores: 8 * grid.CPU, Mine: 1, Options: options}
			r.deliver(from, grid.KindState, func(m *grid.Message) { m.State = s })
		}
	}
}

// A decision about a job with options names each that could run at a node, with the time that was expected of it, under
// any policy. The policy utility has valued each, and the one that it chose most.
func TestDecisionNamesTheOptions(t *testing.T) {
	for policy, of := range map[string]struct {
		chosen     uint8
		ready      time.Duration // that the node answers of the second option
		first, end time.Duration // of each that are expected
	}{
		"":              {1, 0, time.Second * 2 / 13, time.Second}, // it is the only node and is not asked
		"min_min":       {1, time.Second, 10 * time.Second, 65 * time.Second},
		"utility:um_p1": {2, 0, 10 * time.Second, 65 * time.Second},
	} {
		r := newRig(t, nil)
		joinWide(r, fastID, 8, 8)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) {
			elsewhere(s)
			ways(way(8, 6.5, 1), way(2, 1, 1), way(9, 7, 1))(s)
			s.Policy, s.Count = policy, 4
		}))
		r.answersOptions(fastID, grid.OptionState{ECT: 10 * time.Second},
			grid.OptionState{Ready: of.ready, ECT: 65 * time.Second}, grid.OptionState{ECT: time.Second})
		n := r.newest(jobID(1)).Nodes[0]
		if n.Option != of.chosen || len(n.Options) != 2 {
			t.Fatalf("%q: runs as %d of %+v: want option %d of the two that fit", policy, n.Option, n.Options, of.chosen)
		}
		a, b := n.Options[0], n.Options[1]
		const overhead = 2 * time.Millisecond
		if a.Number != 1 || a.ECT < of.first || a.ECT > of.first+overhead || a.Ready != 0 ||
			b.Number != 2 || b.ECT < of.end || b.ECT > of.end+overhead || b.Ready != of.ready {
			t.Errorf("%q: %+v: want %v and %v", policy, n.Options, of.first, of.end)
		}
		valued := policy == "utility:um_p1"
		if a.Judged != valued || b.Judged != valued || valued && !(a.Utility > 0 && b.Utility > 0) {
			t.Errorf("%q: %+v: want utilities of the policy utility alone", policy, n.Options)
		}
		if a.Worth != 0 || b.Worth != 0 {
			t.Errorf("%q: %+v: want no prices of a node that has named none", policy, n.Options)
		}
	}
}

// A refusal with prices is in the log with them, and with what each option costs by them. So does the next decision
// about the node say it, and none that comes when the prices do not count any more.
func TestDecisionNamesThePrices(t *testing.T) {
	prices := grid.Prices{CPU: 2, Worth: 10, Left: way(3, 1, 1).Resources, Offers: 5,
		Counted: []grid.UnitPrice{{Kind: "gpu", Price: 7}}}
	for wait, counts := range map[time.Duration]bool{0: true, 2 * time.Second: false} {
		r := newRig(t, nil)
		joinWide(r, fastID, 8, 8)
		r.submit(jobID(1), spec(func(s *grid.JobSpec) { elsewhere(s); ways(way(8, 4, 1), way(2, 1, 1))(s) }))
		r.answersOptions(fastID, grid.OptionState{ECT: time.Second}, grid.OptionState{ECT: 4 * time.Second})
		id := r.one(grid.KindOffer).Msg.Offer.ID
		r.deliver(fastID, grid.KindRefuse, func(m *grid.Message) {
			m.Attempts, m.Prices, m.Refusal.Why = append(m.Attempts, id), &prices, grid.WhyWorth
		})
		all := r.n.Decisions(jobID(1), 0, 1)
		at := slices.IndexFunc(all, func(d grid.Decision) bool { return d.Why == grid.VerdictPriced })
		if at < 0 {
			t.Fatalf("%+v: want the refusal", all)
		}
		d := all[at]
		if p := d.Prices; d.At != r.now || d.Nodes[0].Node != fastID || d.Nodes[0].Option != 1 || p.CPU != 2 ||
			p.Worth != 10 || p.Left != prices.Left || p.Offers != 5 || !slices.Equal(p.Counted, prices.Counted) {
			t.Errorf("%+v, prices %+v: want what the node has said", d, p)
		}
		cost := d.Nodes[0].Options
		if len(cost) != 2 || cost[0].Worth != cost[1].Worth || cost[0].Price < 1.59*cost[0].Worth ||
			cost[1].Price > 0.41*cost[1].Worth {
			t.Errorf("%+v: want eight cores to cost 1.6 times what they are worth, and two 0.4 times", cost)
		}
		if wait > 0 {
			r.now = r.now.Add(wait)
			r.submit(jobID(2), spec(func(s *grid.JobSpec) { elsewhere(s); ways(way(8, 4, 1), way(2, 1, 1))(s) }))
			r.answersOptions(fastID, grid.OptionState{ECT: time.Second}, grid.OptionState{ECT: 4 * time.Second})
			all = r.n.Decisions(jobID(2), 0, 1)
		} else {
			r.answersOptions(fastID, grid.OptionState{ECT: time.Second}, grid.OptionState{ECT: 4 * time.Second})
			all = r.n.Decisions(jobID(1), 0, 1)
		}
		n := all[len(all)-1].Nodes[0]
		if len(n.Options) != 2 || (n.Options[0].Price > n.Options[0].Worth) != counts {
			t.Errorf("after %v: %+v: want that the first costs more than it is worth: %t", wait, n.Options, counts)
		}
	}
}

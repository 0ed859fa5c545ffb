package net

import (
	"slices"
	"time"

	"skep/sim"
	"skep/sim/net/worth"
)

// Special is about what only some scenarios have.
type Special struct {
	Gangs []GangReport `json:"gangs,omitempty"`
	Worth *Worth       `json:"worth,omitempty"` // nil = nobody bids, wants results by a deadline or gives a name
	// times that a single task which had started went on at another node from a checkpoint, in all replications together
	Migrations int `json:"migrations,omitempty"`
}

// Worth is what results were worth to those who submitted jobs after the warm-up, gangs left out.
type Worth struct {
	All   WorthReport   `json:"all"`
	Bids  []WorthReport `json:"bids"` // by band of bid: each of a factor of two
	Users []WorthReport `json:"users,omitempty"`
	// times that a task was suspended, in all replications together and with those of before the warm-up
	Suspensions int `json:"suspensions"`
}

// WorthReport is about the tasks of a band of bids, or of a user. See package worth for the figures.
type WorthReport struct {
	User       string   `json:"user,omitempty"`
	From       float64  `json:"bid_from"` // lowest bid
	To         float64  `json:"bid_to"`   // highest bid
	Tasks      int      `json:"tasks"`
	Refused    int      `json:"refused"`    // when they were submitted
	Missed     int      `json:"missed"`     // not ended by the deadline
	Completion Estimate `json:"completion"` // of those that exited with 0, as the next two
	Slowdown   Estimate `json:"slowdown"`
	WCT        Estimate `json:"wct"`
	WCR        Estimate `json:"wcr"`
	Utility    Estimate `json:"utility"`
}

// hasWorth reports whether jobs bid, have deadlines or name their users.
func (s *Scenario) hasWorth() bool {
	return slices.ContainsFunc(s.Classes, func(c Class) bool { return c.Terms.Some() }) ||
		slices.ContainsFunc(s.Streams, func(st Stream) bool { return st.User != "" })
}

// countWorth counts a task of the measured ones, after its completion.
func (m *sample) countWorth(w *sim.World, s *Scenario, n, k int, o *sim.Outcome) {
	sub := &m.work[n]
	if sub.At < m.from || sub.Spec.IsGang() || !s.hasWorth() {
		return
	}
	x := worth.Task{Spec: sub.Spec, Refused: w.Rejected(n), Result: o.Result, Took: o.Ended - sub.At}
	if o.Result != nil {
		x.Size = w.Size(n, k) * s.class(sub.Spec.Class).unit()
		x.Slowdown = x.Took.Seconds() / max(o.Result.Wall.Seconds(), time.Nanosecond.Seconds())
	}
	m.bag.worth.Add(&x)
}

func (r *Report) worth(s *Scenario, all []*sample) {
	for _, m := range all {
		r.Migrations += m.report.Checkpoints.Migrated
	}
	if !s.hasWorth() {
		return
	}
	tallies, whole := make([]*worth.Tally, len(all)), make([]*worth.Sums, len(all))
	for i, m := range all {
		tallies[i], whole[i] = &m.bag.worth, &m.bag.worth.All
	}
	r.Worth = &Worth{All: worthReport("", whole)}
	for _, m := range all {
		r.Worth.Suspensions += m.report.Suspensions
	}
	for _, band := range worth.Bands(tallies) {
		r.Worth.Bids = append(r.Worth.Bids, worthReport("", band))
	}
	names, sums := worth.Users(tallies)
	for i, name := range names {
		r.Worth.Users = append(r.Worth.Users, worthReport(name, sums[i]))
	}
}

// worthReport reports sums of each replication.
func worthReport(user string, all []*worth.Sums) WorthReport {
	r := WorthReport{User: user}
	for _, s := range all {
		if s.Tasks == 0 {
			continue
		}
		if from := s.From.Number(); r.Tasks == 0 || from < r.From {
			r.From = from
		}
		r.To = max(r.To, s.To.Number())
		r.Tasks, r.Refused, r.Missed = r.Tasks+s.Tasks, r.Refused+s.Refused, r.Missed+s.Missed
	}
	of := func(figure func(*worth.Sums) float64) Estimate {
		x := make([]float64, len(all))
		for i, s := range all {
			x[i] = figure(s)
		}
		return estimate(x)
	}
	r.Completion, r.Slowdown = of((*worth.Sums).Completion), of((*worth.Sums).Slowdown)
	r.WCT, r.WCR, r.Utility = of((*worth.Sums).WCT), of((*worth.Sums).WCR), of((*worth.Sums).Utility)
	return r
}

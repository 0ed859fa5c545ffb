package peers

import (
	"skep/balance"
	"skep/grid"
)

// What an expected completion time consists of and rests on, for explanations.

// Weigh takes apart what is expected of a candidate for a task. answered = it is the candidate's answer to a poll.
func (p *Peers) Weigh(now grid.Time, s *balance.State, class string, spec *grid.JobSpec,
	answered bool) grid.Considered {
	x := grid.Considered{Node: s.Node, Ready: grid.Seconds(s.Ready), News: max(now.Sub(s.Heard), 0), Asked: answered,
		Price: s.Price, Option: s.Option, Options: p.weighOptions(now, s, class, spec)}
	if s.Node == p.cfg.Self {
		x.Run = grid.Seconds(s.ECT - s.Ready)
		x.Basis, x.Results = p.ownBasis(class)
		return x
	}
	x.Move = min(grid.Seconds(p.cfg.Rates.Overhead(s.RTT, inputBytes(spec))), max(grid.Seconds(s.ECT)-x.Ready, 0))
	x.Run = max(grid.Seconds(s.ECT)-x.Ready-x.Move, 0)
	x.Basis = p.basis(now, s, class, answered)
	return x
}

// basisTolerance is the relative difference up to which an estimate counts as set by the track record: that decays
// between the answer and the decision.
const basisTolerance = 0.02

// basis is what the estimate of another node's run time rests on.
func (p *Peers) basis(now grid.Time, s *balance.State, class string, answered bool) grid.Basis {
	rec := p.records.Of(s.Node)
	least := rec.CompletionTime(now, 0, p.Expected(class), p.cfg.Rates.MinRunTime(class, p.statedRates))
	q := p.set.get(s.Node)
	switch {
	case p.cfg.RatesGiven:
		return grid.BasisGiven
	case least > 0 && s.ECT <= least*(1+basisTolerance) && rec.Delivered():
		return grid.BasisRecord
	case least > 0 && s.ECT <= least*(1+basisTolerance):
		return grid.BasisUnproven
	case answered:
		return grid.BasisAnswer
	case q != nil && p.hasRate(q, class):
		return grid.BasisAd
	case p.cfg.Rates.Typical(class, p.statedRates) > 0:
		return grid.BasisTypical
	}
	return grid.BasisDefault
}

// ownBasis is what the estimate of this node's run time rests on, and how many runs here.
func (p *Peers) ownBasis(class string) (grid.Basis, int32) {
	runs := p.cfg.Rates.RunsOf(class)
	switch {
	case p.cfg.RatesGiven:
		return grid.BasisGiven, 0
	case runs > 0:
		return grid.BasisOwn, runs
	case p.cfg.Rates.Typical(class, p.statedRates) > 0:
		return grid.BasisTypical, 0
	}
	return grid.BasisDefault, 0
}

// hasRate reports whether the estimate of a peer's run time is what it told.
func (p *Peers) hasRate(q *peer, level string) bool {
	class, finer := grid.ClassOfLevel(level)
	return rateIn(q.rates, level) > 0 ||
		finer && p.levelRate(level) == 0 && rateIn(q.rates, class) > 0
}

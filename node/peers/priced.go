package peers

import (
	"time"

	"skep/balance"
	"skep/grid"
)

// Prices for which peers have refused tasks. A peer estimates them by a utility function of its own, and may say what
// it likes: for a short while they order this node's own choices among options of jobs and peers, and no more.

// PriceLife is for how long prices count: what was scarce then is not for long.
const PriceLife = time.Second

// priced are the prices of a peer, in credits as this node counts them.
type priced struct {
	*grid.Prices
	scale float64 // of this node's credits to the peer's, by what the task that it has refused is worth to each
	until grid.Time
}

// KnowsPrices reports whether a peer understands refusals with prices.
func (p *Peers) KnowsPrices(id grid.NodeID) bool {
	q := p.set.get(id)
	return q != nil && q.can.has(knowsPrices)
}

// Priced takes the prices for which a peer refuses a task as an option, if it names some, and returns the refusal as it
// is told to people: in this node's words, of what the peer has said in numbers.
func (p *Peers) Priced(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string, option uint8, m *grid.Message,
) grid.Refusal {
	q, x := p.set.get(id), m.Prices
	if q == nil || x == nil || m.Refusal.Why != grid.WhyWorth {
		return m.Refusal
	}
	scale := 0.0 // the prices say nothing
	if x.Worth > 0 {
		scale = p.credits(spec, level, option) / x.Worth
	}
	q.meet().priced = &priced{x, scale, now.Add(PriceLife)}
	return grid.Refusal{Why: m.Refusal.Why, Detail: x.String()}
}

// credits is what it is worth to its owner that a task is done as an option: its bid for each second of the usual run
// time.
func (p *Peers) credits(spec *grid.JobSpec, level string, option uint8) float64 {
	usual, _ := p.RunTime(level)
	return spec.Bid().Number() * usual * spec.Needs.ValueOf(option)
}

// dear reports whether a peer has said lately that what a way takes costs more than it is worth.
func (p *Peers) dear(now grid.Time, q *peer, spec *grid.JobSpec, level string, w way) bool {
	x := q.told().priced
	return x != nil && now < x.until && w.option > 0 &&
		x.Of(w.Resources)*x.scale > p.credits(spec, level, w.option)*(1+nearlyEqual)
}

// weighOptions says what was expected of each option of a job at a node.
func (p *Peers) weighOptions(now grid.Time, s *balance.State, level string, spec *grid.JobSpec,
) (all []grid.WeighedOption) {
	for i := range s.Ways {
		w := &s.Ways[i]
		o := grid.WeighedOption{Number: w.Option, Ready: grid.Seconds(w.Ready), ECT: grid.Seconds(w.ECT), Judged: w.Judged,
			Utility: w.Utility}
		o.Price, o.Worth = p.priceOf(now, s.Node, spec, level, w.Option)
		all = append(all, o)
	}
	return all
}

// OptionPrices are what the options of a job that a peer fits cost there, by the prices that it has named lately.
func (p *Peers) OptionPrices(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string,
) (all []grid.WeighedOption) {
	for k := range spec.Needs.Options {
		if w, fits := wayOf(spec, k, p.adOf(id)); fits {
			o := grid.WeighedOption{Number: w.option}
			if o.Price, o.Worth = p.priceOf(now, id, spec, level, w.option); o.Worth > 0 {
				all = append(all, o)
			}
		}
	}
	return all
}

// priceOf is what an option of a job costs at a peer, by the prices that it has named lately, and what it is worth, in
// credits as this node counts them; 0 = it has named none.
func (p *Peers) priceOf(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string, option uint8,
) (price, worth float64) {
	q, o := p.set.get(id), spec.Needs.Option(option)
	if q == nil || o == nil {
		return 0, 0
	}
	x := q.told().priced
	if x == nil || now >= x.until || x.scale == 0 {
		return 0, 0
	}
	return x.Of(o.Resources) * x.scale, p.credits(spec, level, option)
}

// nearlyEqual is by what part a price may be above a worth by rounding.
const nearlyEqual = 1e-6

// Affords reports whether a peer that has named prices has room for a task as one of its options, worth its price.
func (p *Peers) Affords(now grid.Time, id grid.NodeID, spec *grid.JobSpec, level string) bool {
	q := p.set.get(id)
	if q == nil || q.told().priced == nil {
		return false
	}
	for k := range waysOf(spec) {
		w, fits := wayOf(spec, k, p.adOf(id))
		if fits && q.met.priced.Left.Fits(w.Resources) && !p.dear(now, q, spec, level, w) {
			return true
		}
	}
	return false
}

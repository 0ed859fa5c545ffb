package knapsack

import "math"

// Demand is what an option takes of one capacity.
type Demand struct {
	Of     int     // index of the capacity
	Amount float64 // in its unit
}

// Problem has items with options, and capacities. It is filled by [Problem.Reset], [Problem.Item] and [Problem.Option],
// and its memory is used again after the next Reset.
type Problem struct {
	capacity []float64
	first    []int // of each item: its first option
	utility  []float64
	at       []int // of each option: its first demand
	demands  []Demand
}

// Reset makes a problem without items. A capacity that is not above 0, or is no number, has nothing to give.
func (p *Problem) Reset(capacity ...float64) {
	p.capacity = append(p.capacity[:0], capacity...)
	for k, c := range p.capacity {
		if !(c > 0) {
			p.capacity[k] = 0
		}
	}
	p.first, p.utility, p.at, p.demands = p.first[:0], p.utility[:0], p.at[:0], p.demands[:0]
}

// Item begins an item. Options that follow are its own.
func (p *Problem) Item() { p.first = append(p.first, len(p.utility)) }

// Option adds an option to the last item. One whose utility is not above 0 is never chosen, nor is one that has a
// demand below 0, of no capacity, or of more than there is; so what a stranger sends can be added as it is.
func (p *Problem) Option(utility float64, demands ...Demand) {
	at := len(p.demands)
	for _, d := range demands {
		switch {
		case d.Amount == 0:
			continue
		case !(d.Amount > 0) || d.Of < 0 || d.Of >= len(p.capacity) || !fits(d.Amount, p.capacity[d.Of]):
			utility = 0
			continue
		}
		p.demands = append(p.demands, d)
	}
	if !(utility > 0) || math.IsInf(utility, 1) || p.repeats(at) {
		utility, p.demands = 0, p.demands[:at]
	}
	p.utility, p.at = append(p.utility, utility), append(p.at, at)
}

// repeats reports whether one capacity has several demands that together are too much, and adds them up otherwise.
func (p *Problem) repeats(at int) bool {
	for k := at + 1; k < len(p.demands); k++ {
		for x := at; x < k; x++ {
			if p.demands[x].Of != p.demands[k].Of {
				continue
			}
			p.demands[x].Amount += p.demands[k].Amount
			p.demands = append(p.demands[:k], p.demands[k+1:]...)
			if k--; !fits(p.demands[x].Amount, p.capacity[p.demands[x].Of]) {
				return true
			}
			break
		}
	}
	return false
}

// Items is the number of items.
func (p *Problem) Items() int { return len(p.first) }

// options is where the options of an item are.
func (p *Problem) options(item int) (from, to int) {
	if item+1 < len(p.first) {
		return p.first[item], p.first[item+1]
	}
	return p.first[item], len(p.utility)
}

// of are the demands of an option.
func (p *Problem) of(option int) []Demand {
	if option+1 < len(p.at) {
		return p.demands[p.at[option]:p.at[option+1]]
	}
	return p.demands[p.at[option]:]
}

// slack is the part of a capacity by which sums of demands may exceed it, since sums are rounded: 0.1 + 0.2 fits into
// 0.3.
const slack = 1e-9

func fits(used, capacity float64) bool { return used <= capacity*(1+slack) }

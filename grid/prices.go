package grid

import (
	"fmt"
	"math"
	"strings"
)

// MaxPrice bounds the prices of a refusal, in credits, and what it says that a task is worth.
const MaxPrice = 1e18

// Prices are why a worker has refused an offer that would fit: others that it was offered at the same time are worth
// more together. They are the worker's estimates, by a utility function of its own, and bind nobody. Credits are a bid
// times seconds of the usual run time. It is immutable.
type Prices struct {
	CPU     float64     // of a core, in credits
	Memory  float64     // of a GiB
	Counted []UnitPrice // of counted resources that are not free of charge, ordered by kind
	Worth   float64     // of the task as it was offered, in credits
	Left    Resources   // what the worker has free beside what it has taken
	Offers  int         // that it chose among
}

// UnitPrice is the price of a unit of a counted resource.
type UnitPrice struct {
	Kind  string
	Price float64
}

// Check reports prices that no honest worker names.
func (p *Prices) Check() error {
	all := []float64{p.CPU, p.Memory, p.Worth}
	if len(p.Counted) > MaxKinds {
		return fmt.Errorf("prices of %d kinds: want at most %d", len(p.Counted), MaxKinds)
	}
	for k, u := range p.Counted {
		if !ValidKind(u.Kind) || k > 0 && u.Kind <= p.Counted[k-1].Kind {
			return fmt.Errorf("price of %.40q: want kinds of resource in their order", u.Kind)
		}
		all = append(all, u.Price)
	}
	for _, x := range all {
		if !(x >= 0 && x <= MaxPrice) {
			return fmt.Errorf("price %g: want 0 to %g", x, float64(MaxPrice))
		}
	}
	if p.Offers < 0 || p.Offers > MaxCount {
		return fmt.Errorf("chosen among %d offers: want 0 to %d", p.Offers, MaxCount)
	}
	return nil
}

// Of is what needs cost at the prices, in credits.
func (p *Prices) Of(need Resources) float64 {
	sum := p.CPU*need.CPU.Cores() + p.Memory*float64(need.Memory)/float64(GiB)
	for _, u := range p.Counted {
		sum += u.Price * float64(need.Counts.Of(u.Kind))
	}
	return math.Min(sum, MaxPrice)
}

// String says the prices to people.
func (p *Prices) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.3g credits for a core", p.CPU)
	if p.Memory > 0 {
		fmt.Fprintf(&b, ", %.3g for a GiB", p.Memory)
	}
	for _, u := range p.Counted {
		fmt.Fprintf(&b, ", %.3g for a unit of %s", u.Price, u.Kind)
	}
	fmt.Fprintf(&b, "; worth %.3g", p.Worth)
	if p.Offers > 0 {
		fmt.Fprintf(&b, ", of %d offers", p.Offers)
	}
	return b.String()
}

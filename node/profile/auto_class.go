package profile

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// ClassAuto, as the value of LabelClass, lets the node choose the class that it is reserved for.
const ClassAuto = "auto"

// autoClass chooses the class of a node labelled class=auto: the one with the greatest demand, by the arrival rates
// and service times in the ads of this node and its view. Until the first choice the node takes every class.
type autoClass struct {
	balance.Keeper
	labels   []grid.Label // from the configuration, without the class
	demand   []balance.Demand
	counts   []int
	measured []int // number of rates in each demand's mean service time
}

// newAutoClass returns nil unless the labels say class=auto.
func newAutoClass(labels []grid.Label) *autoClass {
	i := slices.Index(labels, grid.Label{Key: LabelClass, Value: ClassAuto})
	if i < 0 {
		return nil
	}
	return &autoClass{labels: slices.Delete(slices.Clone(labels), i, i+1)}
}

// StatedLoad is what another node's ad says of the load.
type StatedLoad struct {
	Class   string // that the node is reserved for; "" = it takes every class
	Rates   []grid.Rate
	Trusted float64 // share of the arrivals that is believed
}

// ChoosesClass reports whether the node chooses its class itself.
func (p *Profile) ChoosesClass() bool { return p.autoClass != nil }

// ChooseClass reconsiders the class of a node that chooses it and has nothing to do now. own is the rates that it
// publishes.
func (p *Profile) ChooseClass(now grid.Time, own []grid.Rate, others []StatedLoad) {
	a := p.autoClass
	a.demand, a.counts, a.measured = a.demand[:0], a.counts[:0], a.measured[:0]
	a.add(&StatedLoad{Class: a.Kept(), Rates: own, Trusted: 1})
	for i := range others {
		a.add(&others[i])
	}
	for i := range a.demand {
		if d := &a.demand[i]; a.measured[i] > 0 {
			d.Service /= float64(a.measured[i])
		} else {
			d.Service = p.cfg.Prior
		}
	}
	if a.Look(now, a.demand, a.counts, p.cfg.Rand) {
		p.labels = a.withClass()
		p.site = SiteOf(p.labels, p.site)
	}
}

// add counts one node's class and its rates, arrivals weighted by the share that is trusted.
func (a *autoClass) add(c *StatedLoad) {
	if c.Class != "" {
		a.counts[a.indexOf(c.Class)]++
	}
	for i := range c.Rates {
		x := &c.Rates[i]
		if x.Class == grid.OtherClass {
			continue
		}
		at := a.indexOf(x.Class)
		a.demand[at].Rate += x.Alpha * c.Trusted
		if x.Mu > 0 {
			a.demand[at].Service += 1 / x.Mu
			a.measured[at]++
		}
	}
}

// indexOf returns the index of a class and adds the class if it is new. The ads in the view bound their number.
func (a *autoClass) indexOf(class string) int {
	for i := range a.demand {
		if a.demand[i].Class == class {
			return i
		}
	}
	a.demand = append(a.demand, balance.Demand{Class: class})
	a.counts, a.measured = append(a.counts, 0), append(a.measured, 0)
	return len(a.demand) - 1
}

// withClass returns the node's labels, in order, with the chosen class.
func (a *autoClass) withClass() []grid.Label {
	l := grid.Label{Key: LabelClass, Value: a.Kept()}
	i := 0
	for i < len(a.labels) && a.labels[i].Key < l.Key {
		i++
	}
	return slices.Insert(slices.Clone(a.labels), i, l)
}

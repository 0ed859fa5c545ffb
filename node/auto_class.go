package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
	"skep/node/rates"
	"skep/node/reputation"
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

// chooseClass reconsiders the node's class, once per refresh period and only while the node is idle.
func (n *Node) chooseClass(now grid.Time) {
	a := n.autoClass
	if a == nil || len(n.worker.Exec().Running())+len(n.worker.Exec().Queue()) > 0 {
		return
	}
	a.demand, a.counts, a.measured = a.demand[:0], a.counts[:0], a.measured[:0]
	n.rates.Publish(now)
	own, _ := n.rates.Published()
	a.add(own, a.Kept(), 1)
	for _, p := range n.gossip.Peers() {
		if p.Ad != nil {
			class, _ := p.Ad.Label(LabelClass)
			received := reputation.Received{}
			if q := n.peers.get(p.Node()); q != nil {
				received = q.received
			}
			a.add(p.Ad.Rates, class, n.trustedShare(now, p.Ad.Rates, p.Ad.Capacity.CPU, received))
		}
	}
	for i := range a.demand {
		if d := &a.demand[i]; a.measured[i] > 0 {
			d.Service /= float64(a.measured[i])
		} else {
			d.Service = rates.Prior
		}
	}
	if a.Look(now, a.demand, a.counts, n.rng) {
		n.labels = a.withClass()
		n.site = siteOf(n.labels, n.site)
	}
}

// add counts one node's class and its rates, arrivals weighted by the share that is trusted.
func (a *autoClass) add(published []grid.Rate, class string, trusted float64) {
	if class != "" {
		a.counts[a.indexOf(class)]++
	}
	for i := range published {
		x := &published[i]
		if x.Class == grid.OtherClass {
			continue
		}
		at := a.indexOf(x.Class)
		a.demand[at].Rate += x.Alpha * trusted
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
	a.demand, a.counts, a.measured = append(a.demand, balance.Demand{Class: class}), append(a.counts, 0), append(a.measured, 0)
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

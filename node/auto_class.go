package node

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

// chooseClass reconsiders the node's class, once per refresh period and only while the node is idle.
func (n *Node) chooseClass(now grid.Time) {
	k := n.autoClass
	if k == nil || len(n.exec.Running())+len(n.exec.Queue()) > 0 {
		return
	}
	k.demand, k.counts, k.measured = k.demand[:0], k.counts[:0], k.measured[:0]
	n.rates.publish(now)
	k.add(n.rates.own, k.Kept(), 1)
	for _, p := range n.gossip.Peers() {
		if p.Ad != nil {
			class, _ := p.Ad.Label(LabelClass)
			g := receivedWork{}
			if q := n.peers.get(p.Node()); q != nil {
				g = q.received
			}
			k.add(p.Ad.Rates, class, n.trustedShare(now, p.Ad.Rates, p.Ad.Capacity.CPU, g))
		}
	}
	for i := range k.demand {
		if d := &k.demand[i]; k.measured[i] > 0 {
			d.Service /= float64(k.measured[i])
		} else {
			d.Service = prior
		}
	}
	if k.Look(now, k.demand, k.counts, n.rng) {
		n.labels = k.withClass()
		n.site = siteOf(n.labels, n.site)
	}
}

// add counts one node's class and its rates, arrivals weighted by the share that is trusted.
func (k *autoClass) add(rates []grid.Rate, class string, believed float64) {
	if class != "" {
		k.counts[k.indexOf(class)]++
	}
	for i := range rates {
		x := &rates[i]
		if x.Class == grid.OtherClass {
			continue
		}
		at := k.indexOf(x.Class)
		k.demand[at].Rate += x.Alpha * believed
		if x.Mu > 0 {
			k.demand[at].Service += 1 / x.Mu
			k.measured[at]++
		}
	}
}

// indexOf returns the index of a class and adds the class if it is new. The ads in the view bound their number.
func (k *autoClass) indexOf(class string) int {
	for i := range k.demand {
		if k.demand[i].Class == class {
			return i
		}
	}
	k.demand, k.counts, k.measured = append(k.demand, balance.Demand{Class: class}), append(k.counts, 0), append(k.measured, 0)
	return len(k.demand) - 1
}

// withClass returns the node's labels, in order, with the chosen class.
func (k *autoClass) withClass() []grid.Label {
	l := grid.Label{Key: LabelClass, Value: k.Kept()}
	i := 0
	for i < len(k.labels) && k.labels[i].Key < l.Key {
		i++
	}
	return slices.Insert(slices.Clone(k.labels), i, l)
}

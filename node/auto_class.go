package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// ClassAuto as the value of LabelClass lets the node itself decide which class it is kept for.
const ClassAuto = "auto"

// autoClass is the class of a node that is labelled class=auto: that which needs it most, by what it and the nodes that it
// knows tell of their arrivals and of how long tasks take. At first it takes every class.
type autoClass struct {
	balance.Keeper
	labels   []grid.Label // of the configuration, without the class
	demand   []balance.Demand
	counts   []int
	measured []int // that the mean service time of each demand is of
}

// newAutoClass is nil for a node whose class is given, or that has none.
func newAutoClass(labels []grid.Label) *autoClass {
	i := slices.Index(labels, grid.Label{Key: LabelClass, Value: ClassAuto})
	if i < 0 {
		return nil
	}
	return &autoClass{labels: slices.Delete(slices.Clone(labels), i, i+1)}
}

// chooseClass looks, once in a refresh, which class needs this node, if it has nothing to do.
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

// add counts what one node tells, as far as its arrivals are believed, and the class that it is kept for.
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

// indexOf returns where a class stands; it makes room for it if need be. There are no more than the view's ads tell.
func (k *autoClass) indexOf(class string) int {
	for i := range k.demand {
		if k.demand[i].Class == class {
			return i
		}
	}
	k.demand, k.counts, k.measured = append(k.demand, balance.Demand{Class: class}), append(k.counts, 0), append(k.measured, 0)
	return len(k.demand) - 1
}

// withClass are the node's labels with its class, in order.
func (k *autoClass) withClass() []grid.Label {
	l := grid.Label{Key: LabelClass, Value: k.Kept()}
	i := 0
	for i < len(k.labels) && k.labels[i].Key < l.Key {
		i++
	}
	return slices.Insert(slices.Clone(k.labels), i, l)
}

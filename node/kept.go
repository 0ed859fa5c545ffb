package node

import (
	"slices"

	"skep/balance"
	"skep/grid"
)

// ClassAuto as the value of LabelClass lets the node itself decide which class it is kept for.
const ClassAuto = "auto"

// kept is the class of a node that is labelled class=auto: that which needs it most, by what it and the nodes that it
// knows tell of their arrivals and of how long tasks take. At first it takes every class.
type kept struct {
	balance.Keeper
	labels []grid.Label // of the configuration, without the class
	demand []balance.Demand
	counts []int
	rates  []int // that the mean service time of each demand is of
}

// keeper is nil for a node whose class is given, or that has none.
func keeper(labels []grid.Label) *kept {
	i := slices.Index(labels, grid.Label{Key: LabelClass, Value: ClassAuto})
	if i < 0 {
		return nil
	}
	return &kept{labels: slices.Delete(slices.Clone(labels), i, i+1)}
}

// chooseClass looks, once in a refresh, which class needs this node, if it has nothing to do.
func (n *Node) chooseClass(now grid.Time) {
	k := n.keeps
	if k == nil || len(n.exec.Running())+len(n.exec.Queue()) > 0 {
		return
	}
	k.demand, k.counts, k.rates = k.demand[:0], k.counts[:0], k.rates[:0]
	n.rates.publish(now)
	k.add(n.rates.own, k.Kept(), 1)
	for _, p := range n.gossip.Peers() {
		if p.Ad != nil {
			class, _ := p.Ad.Label(LabelClass)
			g := gifts{}
			if q := n.peers.get(p.Node()); q != nil {
				g = q.gifts
			}
			k.add(p.Ad.Rates, class, n.appetite(now, p.Ad.Rates, p.Ad.Capacity.CPU, g))
		}
	}
	for i := range k.demand {
		if d := &k.demand[i]; k.rates[i] > 0 {
			d.Service /= float64(k.rates[i])
		} else {
			d.Service = prior
		}
	}
	if k.Look(now, k.demand, k.counts, n.rng) {
		n.labels = k.labelled()
		n.site = siteOf(n.labels, n.site)
	}
}

// add counts what one node tells, as far as its arrivals are believed, and the class that it is kept for.
func (k *kept) add(rates []grid.Rate, class string, believed float64) {
	if class != "" {
		k.counts[k.of(class)]++
	}
	for i := range rates {
		x := &rates[i]
		if x.Class == grid.OtherClass {
			continue
		}
		at := k.of(x.Class)
		k.demand[at].Rate += x.Alpha * believed
		if x.Mu > 0 {
			k.demand[at].Service += 1 / x.Mu
			k.rates[at]++
		}
	}
}

// of returns where a class stands; it makes room for it if need be. There are no more than the view's ads tell.
func (k *kept) of(class string) int {
	for i := range k.demand {
		if k.demand[i].Class == class {
			return i
		}
	}
	k.demand, k.counts, k.rates = append(k.demand, balance.Demand{Class: class}), append(k.counts, 0), append(k.rates, 0)
	return len(k.demand) - 1
}

// labelled are the node's labels with its class, in order.
func (k *kept) labelled() []grid.Label {
	l := grid.Label{Key: LabelClass, Value: k.Kept()}
	i := 0
	for i < len(k.labels) && k.labels[i].Key < l.Key {
		i++
	}
	return slices.Insert(slices.Clone(k.labels), i, l)
}

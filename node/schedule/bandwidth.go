package schedule

import (
	"fmt"
	"math"
	"time"

	"skep/gang"
	"skep/grid"
)

// Bandwidths of links that were not measured, bytes a second: a network of 1 Gbit/s, and one of 100 Mbit/s.
const (
	SiteBandwidth = 1.25e8
	FarBandwidth  = 1.25e7
)

// memory is in what time a measurement comes to count 1/e, and what is assumed of such a link the rest.
const memory = 10 * time.Minute

// faded is a measured bandwidth, the older the nearer to what is assumed of a link that was not measured.
func faded(b grid.Bandwidth, otherwise float64) float64 {
	weight := math.Exp(-max(b.Age, 0).Seconds() / memory.Seconds())
	return otherwise + weight*(b.Rate-otherwise)
}

// Assumed is the bandwidth of a link that was not measured, by its latency.
func Assumed(latency float64) float64 {
	if latency > gang.DefaultSiteDelay {
		return FarBandwidth
	}
	return SiteBandwidth
}

// fromOwner is the bandwidth between the owner and a node.
func fromOwner(n *grid.GangNode) float64 {
	b := Assumed(n.RTT.Seconds() / 2)
	if n.Link.Rate > 0 {
		return faded(n.Link, b)
	}
	return b
}

// linkOf is the link from one node to another. Its bandwidth is what transfers between the owner and the two have
// achieved, where that tells something of it: one of the two is the owner or in the owner's site. Nodes of another
// site may reach each other by a faster way than they reach the owner.
func linkOf(a, b *grid.GangNode) (l gang.Link, age time.Duration, measured bool) {
	l.Latency = latency(a, b)
	l.Bandwidth = Assumed(l.Latency)
	if !besideOwner(a) && !besideOwner(b) {
		return l, 0, false
	}
	least := math.Inf(1)
	for _, n := range [...]*grid.GangNode{a, b} {
		switch {
		case n.Link.Rate > 0:
			least, age, measured = min(least, faded(n.Link, l.Bandwidth)), max(age, n.Link.Age), true
		case !n.Own && besideOwner(n):
			least = min(least, SiteBandwidth)
		case !n.Own:
			return l, 0, false
		}
	}
	if measured {
		l.Bandwidth = least
	}
	return l, age, measured
}

// besideOwner reports whether a node is the owner or in its site.
func besideOwner(n *grid.GangNode) bool {
	return n.Own || n.RTT > 0 && n.RTT.Seconds()/2 <= gang.DefaultSiteDelay
}

// slowestLink says what the slowest link between the nodes of a schedule is taken for, and why; "" = there is none.
func slowestLink(nodes []grid.GangNode, used []int) string {
	least, why := math.Inf(1), ""
	for i, a := range used {
		for _, b := range used[i+1:] {
			l, age, measured := linkOf(&nodes[a], &nodes[b])
			if a == b || l.Bandwidth >= least {
				continue
			}
			least, why = l.Bandwidth, "not measured"
			if measured {
				why = fmt.Sprintf("measured %.0f s ago", age.Seconds())
			}
		}
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("; slowest link %.3g MB/s, %s", least/1e6, why)
}

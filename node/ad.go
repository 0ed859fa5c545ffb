package node

import (
	"slices"
	"time"

	"skep/grid"
)

// adGap is the minimum time between two own ads; changes within it are sent together.
const adGap = time.Second

// adChanged schedules a new ad: what the last one says may be outdated.
func (n *Node) adChanged(now grid.Time, fx *grid.Effects) {
	if n.adWake || n.gossip.Ad() == nil {
		return
	}
	n.adWake = true
	fx.Wake(max(now, n.lastAd.Add(adGap)), grid.TimerAd, 0)
}

// advertise hands the node's current ad to gossip, whose rule decides whether it is sent. An ad that differs from the
// last one by less than the rule's threshold is not built at all.
func (n *Node) advertise(now grid.Time, fx *grid.Effects) {
	n.lastAd = now
	n.rates.Publish(now)
	draft := &n.scratch.draft
	*draft = n.describe(now)
	if n.gossip.Worth(draft) {
		n.gossip.Advertise(now, n.newAd(now), fx)
	}
}

// newAd returns the next ad of this node's sequence.
func (n *Node) newAd(now grid.Time) *grid.Ad {
	n.rates.Publish(now)
	n.ads++
	ad := n.describe(now)
	if last := n.gossip.Ad(); last != nil && slices.Equal(last.Rates, ad.Rates) {
		ad.Rates = last.Rates
	} else {
		ad.Rates = slices.Clone(ad.Rates)
	}
	return &ad
}

// describe returns the node's current description. It changes nothing; Rates aliases the node's own slice.
func (n *Node) describe(now grid.Time) grid.Ad {
	own, _ := n.rates.Published()
	return grid.Ad{
		Node: n.cfg.Self, Seq: grid.Seq{Boot: n.cfg.Boot, N: n.ads}, Name: n.cfg.Name,
		Capacity: n.cfg.Capacity, Free: n.worker.Exec().Free(), Speed: n.cfg.Speed, Availability: n.availability.fraction(),
		Backlog: grid.Seconds(n.worker.Exec().Wait(now, oneCore, n.runTime)),
		Labels:  n.labels, Engines: n.cfg.Engines, Rates: own, Addrs: n.addrs,
		Coord:    n.gossip.Coord(),
		Draining: n.worker.Exec().Draining(),
		Full:     n.lowDisk,
		Private:  n.cfg.Private,
	}
}

// announceLeave announces that this node is about to stop, and hands back the attempts of other owners.
func (n *Node) announceLeave(now grid.Time, fx *grid.Effects) {
	n.worker.Leave(now, fx)
	ad := n.newAd(now)
	ad.Leaving = true
	n.gossip.Advertise(now, ad, fx)
	m := fx.Announce(grid.KindBye)
	m.Digest = append(m.Digest, grid.AdEntry{Ad: ad})
}

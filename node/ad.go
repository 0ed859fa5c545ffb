package node

import (
	"skep/gossip"
	"skep/grid"
	"skep/node/profile"
)

// This node's ad: its load is collected from the parts, and the ad is given to gossip. The ads of others are taken.

// load collects what the parts say of this node. It changes nothing; Rates aliases the published ones.
func (n *Node) load(now grid.Time) profile.Load {
	here := n.worker.Exec()
	own, _ := n.rates.Published()
	return profile.Load{Free: here.Free(), Backlog: grid.Seconds(here.Wait(now, oneCore, n.peers.RunTime)), Rates: own,
		Draining: here.Draining(), Work: grid.AdWork{Waits: here.KindWaits(now, n.peers.RunTime),
			Waiting: n.pull != nil && n.pull.Waits(), Price: n.peers.Price().Price(now), Outbid: here.Outbid(now),
			Sharing: here.Sharing()}}
}

// nextAd returns the next ad, with the rates as of now.
func (n *Node) nextAd(now grid.Time) *grid.Ad {
	n.rates.Publish(now)
	return n.profile.Next(n.load(now))
}

// adDue hands gossip the ad that TimerAd asks for.
func (n *Node) adDue(now grid.Time, fx *grid.Effects) {
	n.rates.Publish(now)
	if ad := n.profile.Wake(now, n.load(now)); ad != nil {
		n.gossip.Advertise(now, ad, fx)
	}
	if n.peers.Price().Falling(now) {
		n.profile.Changed(now, fx)
	}
}

// announceDrain announces the change to every node at once; the dissemination rule would limit its range.
func (n *Node) announceDrain(now grid.Time, fx *grid.Effects) {
	n.profile.Space(now)
	n.gossip.Advertise(now, n.nextAd(now), fx)
	m := fx.Announce(grid.KindBye)
	m.Digest = append(m.Digest, grid.AdEntry{Ad: n.gossip.Ad()})
}

// announceLeave announces that this node is about to stop, and hands back the attempts of other owners.
func (n *Node) announceLeave(now grid.Time, fx *grid.Effects) {
	n.worker.Leave(now, fx)
	n.rates.Publish(now)
	ad := n.profile.Last(n.load(now))
	n.gossip.Advertise(now, ad, fx)
	m := fx.Announce(grid.KindBye)
	m.Digest = append(m.Digest, grid.AdEntry{Ad: ad})
}

// setAvailability applies the driver's measurement.
func (n *Node) setAvailability(now grid.Time, idle, up float64, fx *grid.Effects) {
	n.profile.SetAvailability(now, idle, up, fx)
	if n.tuning.Balance.Availability {
		n.worker.SetCoreShare(now, n.profile.IdleShare())
		n.peers.Policies().ColumnsChanged()
	}
}

// chooseClass reconsiders the class that this node is reserved for, if it chooses that itself: once per refresh period
// and only while it is idle.
func (n *Node) chooseClass(now grid.Time) {
	if !n.profile.ChoosesClass() || len(n.worker.Exec().Running())+n.worker.Exec().Queued() > 0 {
		return
	}
	n.rates.Publish(now)
	own, _ := n.rates.Published()
	others := n.peers.StatedLoads(now, n.scratch.stated[:0])
	n.profile.ChooseClass(now, own, others)
	clear(others) // the ads are not kept
	n.scratch.stated = others
}

// Describe returns this node's ad as of now; it changes nothing.
func (n *Node) Describe(now grid.Time) *grid.Ad {
	return new(n.profile.Describe(n.load(now)))
}

// adNews returns the callback for each ad that is newer than the known one.
func (n *Node) adNews(now grid.Time) func(*gossip.Peer) {
	news := n.coordinator.AdNews(now)
	if n.pull == nil {
		return news
	}
	return func(g *gossip.Peer) {
		n.pull.Heard(g.Node())
		news(g)
	}
}

package node

import (
	"skep/gossip"
	"skep/grid"
	"skep/node/worker"
)

// What the node carries between the worker and the other parts.

// followCoordinator makes the worker follow what has changed about jobs.
func (n *Node) followCoordinator(now grid.Time, fx *grid.Effects) {
	for x, found := n.coordinator.NextChange(); found; x, found = n.coordinator.NextChange() {
		n.worker.Follow(now, &x, fx)
	}
}

// followWorker makes the node follow what has changed at its worker.
func (n *Node) followWorker(now grid.Time, fx *grid.Effects) {
	news := n.worker.News()
	for _, r := range news.Ran {
		n.rates.Ran(now, r.Class, r.Time, fx)
	}
	if news.Ended {
		n.coordinator.ResumeAwaitingProof()
	}
	if news.Changed {
		n.profile.Changed(now, fx)
		n.loadChanged()
	}
}

// offerReceived has the worker accept or refuse an offered attempt.
func (n *Node) offerReceived(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	if o.Spec == nil || o.ID.Task.Index >= o.Spec.Count {
		n.stats.Stale++
		return
	}
	job := o.ID.Task.Job
	n.coordinator.OfferFrom(now, from, o, fx)
	n.followCoordinator(now, fx)
	reg := n.coordinator.KnownRegister(job, from, o.Members)
	v, why := n.worker.Consider(from, o, &reg, fx)
	if v == worker.Ignored {
		return
	}
	if v == worker.Fresh {
		if why = n.coordinator.FitsSelf(o.Spec); why.Why == grid.WhyNone {
			why.Why = n.worker.Refuses(job, o.Spec.Needs.Resources)
		}
		if why.Why == grid.WhyNone {
			why = n.coordinator.AdmitOffer(from, o, fx)
		}
		if why.Why == grid.WhyNone {
			n.peers.CountReceived(now, from, o)
		}
	}
	n.worker.Reply(now, from, o, v, why, reg.Verified, fx)
	if n.pull != nil && v == worker.Fresh && o.Pulled && why.Why == grid.WhyNone {
		n.pull.Came()
	}
	if v == worker.Fresh && why.Why == grid.WhyNone {
		n.coordinator.LearnOwner(now, job, o.ID.Epoch, from, fx) // the offer may be the first message of a new owner
	}
}

// loadChanged has the node look whether work should move: some has come, has ended or waits, or a node has another ad.
func (n *Node) loadChanged() {
	if n.pull != nil {
		n.pull.Changed()
	}
}

// handlePull handles the messages of idle nodes and of those where work waits.
func (n *Node) handlePull(now grid.Time, from grid.NodeID, m *grid.Message, fx *grid.Effects) {
	switch {
	case n.pull == nil:
	case m.Kind == grid.KindPull:
		n.pull.Asked(now, from, m.Poll.Needs, fx)
	default:
		n.pull.Hinted(now, from, fx)
	}
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

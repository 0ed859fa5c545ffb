package node

import (
	"skep/grid"
	"skep/node/worker"
)

// offerReceived has the worker accept or refuse an offered attempt.
func (n *Node) offerReceived(now grid.Time, from grid.NodeID, o *grid.Offer, fx *grid.Effects) {
	if !o.IsFor(n.self) || !o.Spec.ValidOption(o.Option) || !n.coordinator.OfferFrom(now, from, o, fx) {
		n.stats.stale++
		return
	}
	job, spec := o.ID.Task.Job, o.Spec.AsOption(o.Option)
	n.followCoordinator(now, fx)
	reg := n.coordinator.KnownRegister(job, from, o.Members)
	v, why := n.worker.Consider(from, o, &reg, fx)
	if v == worker.Ignored {
		return
	}
	if v == worker.Fresh {
		if why = n.coordinator.FitsSelf(spec); why.Why == grid.WhyNone {
			why.Why = n.worker.Refuses(job, spec.Needs.Resources)
		}
		if why.Why == grid.WhyNone && n.worker.Gathers(now, from, o, reg.Verified, fx) {
			return
		}
		if why.Why == grid.WhyNone {
			why = n.coordinator.AdmitOffer(from, o, fx)
		}
		if why.Why == grid.WhyNone && !n.worker.TakeReserved(now, from, o) {
			why.Why = grid.WhyUnkept
		}
		if why.Why == grid.WhyNone {
			n.peers.CountReceived(now, from, o)
		}
	}
	n.worker.Reply(now, from, o, v, why, reg.Verified, fx)
	if v != worker.Fresh || why.Why != grid.WhyNone {
		return
	}
	if n.pull != nil && o.Pulled {
		n.pull.Came(now, from)
	}
	n.coordinator.LearnOwner(now, job, o.ID.Epoch, from, fx) // the offer may be the first message of a new owner
}

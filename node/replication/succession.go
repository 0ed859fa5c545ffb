package replication

import (
	"time"

	"skep/grid"
)

// When members campaign, and what comes of it.

// CampaignIfDue campaigns if the owner has been silent for long enough. Members later in the succession wait longer, so
// that they seldom campaign at once. voters as in Campaign.
func (r *Replica) CampaignIfDue(now grid.Time, voters []grid.NodeID, fx *grid.Effects) {
	if !r.MayOwn() {
		r.askIfDue(now, voters, fx)
		return
	}
	from := r.ownerLastAnswered().Add(TakeoverDelay(r.of.cfg.Lease) + time.Duration(r.successionRank())*r.of.cfg.Lease/2)
	if r.unlisted {
		from = r.lastWrite.Add(TakeoverDelay(r.of.cfg.Lease))
	}
	if now >= max(from, r.campaignAt) {
		r.Campaign(now, voters, fx)
	}
}

// RenewIfDue campaigns, as the owner, for an epoch above one that a member has promised elsewhere.
func (r *Replica) RenewIfDue(now grid.Time, voters []grid.NodeID, fx *grid.Effects) {
	if r.promisedElsewhere > r.state.Epoch && now >= r.campaignAt {
		r.Campaign(now, voters, fx)
	}
}

// Campaign begins a campaign, or repeats its requests. voters are the members that are connected or being dialled.
func (r *Replica) Campaign(now grid.Time, voters []grid.NodeID, fx *grid.Effects) {
	if r.givesUpOutcome(now) {
		r.giveUp()
		return
	}
	if r.CampaignEpoch() <= max(r.promisedElsewhere, r.state.Promised) {
		r.Register.Campaign(r.promisedElsewhere)
		r.campaignBegan = now
	}
	for _, id := range voters {
		if !r.mayTell(id) {
			continue
		}
		m := fx.Send(id, grid.KindCampaign)
		m.Register.Job = r.id
		if !r.VoteRequest(r.Place(id), &m.Register) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		} else if m.Register.Next == 0 {
			r.describe(r.of.wall.At(now).UnixNano(), &m.Register)
		}
	}
}

// GiveUpCampaign ends a campaign whose votes have no room here, and waits before the next.
func (r *Replica) GiveUpCampaign(now grid.Time) {
	r.EndCampaign()
	r.delayCampaign(now)
}

// delayCampaign makes a member wait after a failed campaign, with jitter.
func (r *Replica) delayCampaign(now grid.Time) {
	d := r.of.cfg.Lease / 2
	r.campaignAt = now.Add(d + time.Duration(r.of.rng.Int64N(int64(d)*int64(1+r.successionRank()))))
}

// VoteAnswered takes a member's answer to a campaign. A member that has answered the owner since it began to campaign
// has renewed its lease: it would not vote for another, nor may it for itself.
func (r *Replica) VoteAnswered(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	wasOwner, before := r.IsOwner(), r.state
	r.heed(from, a.Set, fx)
	r.saveIfChanged(&before, fx)
	if !r.provenVote(from, a, fx) {
		return
	}
	if r.CampaignEpoch() > 0 && r.answeredOwnerSince(r.campaignBegan) {
		r.GiveUpCampaign(now)
	}
	ConvertTimes(r.of.wall.At(now).UnixNano(), a.Entries)
	heardClosed := r.closedIn > 0
	outcome := r.VoteReceived(from, a, r.of.nextTerm())
	heard := r.closedIn > 0 && !heardClosed
	// of a tombstone that was believed for a moment, too
	if wasOwner && (heard || !r.IsOwner() && (outcome == CampaignOpen || outcome == CampaignLost)) {
		r.of.changed(grid.RegisterLost, r)
		wasOwner = false
	}
	if heard {
		r.of.changed(grid.RegisterOver, r)
	}
	switch outcome {
	case CampaignWon, CampaignRenewed:
		r.becomeOwner(now, wasOwner, outcome == CampaignRenewed, fx)
	case CampaignLost:
		if a.Answer == grid.RegisterHigher {
			r.sawHigherEpoch(now, from, a, fx)
		}
		r.delayCampaign(now)
	case CampaignRefused:
		r.delayCampaign(now)
	case CampaignVoid:
		if wasOwner {
			r.StepDown()
		}
		r.of.changed(grid.RegisterVoid, r)
	case CampaignGone:
		r.giveUp()
	case CampaignDone:
		if wasOwner {
			r.StepDown()
		}
		r.Save(fx)
		r.of.changed(grid.RegisterMerged, r)
		r.of.changed(grid.RegisterClosed, r)
	case CampaignOpen:
		m := fx.Send(from, grid.KindCampaign)
		m.Register.Job = r.id
		if !a.More || uint64(a.Next) <= a.Seq || !r.VoteRequest(r.Place(from), &m.Register) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		}
	}
}

// giveUp gives up a job of whose outcome nothing is left.
func (r *Replica) giveUp() {
	r.EndCampaign()
	r.of.changed(grid.RegisterForgotten, r)
}

// becomeOwner makes this node the owner after a won campaign.
func (r *Replica) becomeOwner(now grid.Time, wasOwner, renewed bool, fx *grid.Effects) {
	if wasOwner && !renewed {
		r.of.changed(grid.RegisterLost, r)
	}
	clear(r.acked)
	clear(r.acceptedAt)
	clear(r.writeSent)
	r.unlisted, r.ledSince, r.replacement.out = false, now, grid.NodeID{}
	r.Save(fx)
	r.of.changed(grid.RegisterMerged, r)
	r.follow(now, r.state.Epoch, r.of.cfg.Self)
	r.MarkDirty()
	if renewed {
		r.of.changed(grid.RegisterRenewed, r)
		return
	}
	r.of.changed(grid.RegisterOwned, r)
}

// StepDown makes this node a plain member again.
func (r *Replica) StepDown() {
	r.Register.StepDown()
	r.of.changed(grid.RegisterLost, r)
}

// sawHigherEpoch records that a member has promised a higher epoch, and perhaps who owns it. Of a signed job that owner
// is believed by the votes for it alone.
func (r *Replica) sawHigherEpoch(now grid.Time, from grid.NodeID, a *grid.RegisterMessage, fx *grid.Effects) {
	if !r.plausible(a.Epoch) {
		return
	}
	if a.Epoch > r.promisedElsewhere {
		r.promisedElsewhere = a.Epoch
		r.delayCampaign(now)
	}
	if a.Epoch <= r.ownerEpoch || a.Owner.IsZero() || a.Owner == r.of.cfg.Self || r.Place(a.Owner) < 0 {
		return
	}
	if !r.provenOwner(from, a.Epoch, a.Owner, a.Mandate, fx) {
		return
	}
	if r.IsOwner() {
		r.StepDown()
	}
	r.Follow(now, a.Epoch, a.Owner)
}

// Follow records who owns an epoch, if it is newer than the known one and its owner another member. Of a signed job the
// votes for it were checked last.
func (r *Replica) Follow(now grid.Time, epoch uint32, owner grid.NodeID) {
	if r.chain != nil && !r.chain.Proves(epoch, owner) {
		return
	}
	if !r.follow(now, epoch, owner) || owner == r.of.cfg.Self {
		return
	}
	r.of.changed(grid.RegisterMoved, r)
	r.of.answeredOwner(now, owner)
	if r.IsOwner() {
		r.StepDown()
	}
}

func (r *Replica) follow(now grid.Time, epoch uint32, owner grid.NodeID) bool {
	if epoch <= r.ownerEpoch || r.Place(owner) < 0 {
		return false
	}
	r.owner, r.ownerEpoch, r.ownerSince = owner, epoch, r.of.wall.At(now).UnixNano()
	return true
}

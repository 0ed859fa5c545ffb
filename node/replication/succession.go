package replication

import (
	"time"

	"skep/grid"
)

// When members campaign, and what comes of it.

// Contacts requests connections to members.
type Contacts interface {
	// Reach reports whether a member of a job's register is connected or being dialled, after requesting a connection
	// if need be.
	Reach(now grid.Time, job grid.JobID, member grid.NodeID, fx *grid.Effects) bool
}

// CampaignIfDue campaigns if the owner has been silent for long enough. Members later in the succession wait longer, so
// that they seldom campaign at once.
func (s *Replicas) CampaignIfDue(now grid.Time, r *Replica, fx *grid.Effects) {
	from := s.ownerLastAnswered(r).Add(TakeoverDelay(s.cfg.Lease) + time.Duration(r.successionRank())*s.cfg.Lease/2)
	if r.unlisted {
		from = r.lastWrite.Add(TakeoverDelay(s.cfg.Lease))
	}
	if now >= max(from, r.campaignAt) {
		s.Campaign(now, r, fx)
	}
}

// RenewIfDue campaigns, as the owner, for an epoch above one that a member has promised elsewhere.
func (s *Replicas) RenewIfDue(now grid.Time, r *Replica, fx *grid.Effects) {
	if r.promisedElsewhere > r.state.Epoch && now >= r.campaignAt {
		s.Campaign(now, r, fx)
	}
}

// Campaign begins a campaign, or repeats its requests.
func (s *Replicas) Campaign(now grid.Time, r *Replica, fx *grid.Effects) {
	if s.givesUpOutcome(now, r) {
		s.giveUp(r)
		return
	}
	if r.CampaignEpoch() <= max(r.promisedElsewhere, r.state.Promised) {
		r.Register.Campaign(r.promisedElsewhere)
	}
	for place, id := range r.members {
		if !s.cfg.Contacts.Reach(now, r.id, id, fx) {
			continue
		}
		m := fx.Send(id, grid.KindCampaign)
		m.Register.Job = r.id
		if !r.VoteRequest(place, &m.Register) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		} else if m.Register.Next == 0 {
			r.describe(s.wall.At(now).UnixNano(), &m.Register)
		}
	}
}

// GiveUpCampaign ends a campaign whose votes have no room here, and waits before the next.
func (s *Replicas) GiveUpCampaign(now grid.Time, r *Replica) {
	r.EndCampaign()
	s.delayCampaign(now, r)
}

// delayCampaign makes a member wait after a failed campaign, with jitter.
func (s *Replicas) delayCampaign(now grid.Time, r *Replica) {
	d := s.cfg.Lease / 2
	r.campaignAt = now.Add(d + time.Duration(s.rng.Int64N(int64(d)*int64(1+r.successionRank()))))
}

// VoteAnswered takes a member's answer to a campaign.
func (s *Replicas) VoteAnswered(now grid.Time, from grid.NodeID, r *Replica, a *grid.RegisterMessage, fx *grid.Effects) {
	ConvertTimes(s.wall.At(now).UnixNano(), a.Entries)
	wasOwner, heardClosed := r.IsOwner(), r.closedIn > 0
	outcome := r.VoteReceived(from, a, s.nextTerm())
	if r.closedIn > 0 && !heardClosed {
		if wasOwner {
			s.changed(Lost, r)
			wasOwner = false
		}
		s.changed(Over, r)
	}
	switch outcome {
	case CampaignWon, CampaignRenewed:
		s.becomeOwner(now, r, wasOwner, outcome == CampaignRenewed, fx)
	case CampaignLost:
		if a.Answer == grid.RegisterHigher {
			s.sawHigherEpoch(now, r, a)
		}
		s.delayCampaign(now, r)
	case CampaignVoid:
		if wasOwner {
			s.StepDown(r)
		}
		s.changed(Void, r)
	case CampaignGone:
		s.giveUp(r)
	case CampaignDone:
		if wasOwner {
			s.StepDown(r)
		}
		s.Save(r, fx)
		s.changed(Merged, r)
		s.changed(Closed, r)
	case CampaignOpen:
		m := fx.Send(from, grid.KindCampaign)
		m.Register.Job = r.id
		if !a.More || uint64(a.Next) <= a.Seq || !r.VoteRequest(r.Place(from), &m.Register) {
			fx.Sends = fx.Sends[:len(fx.Sends)-1]
		}
	}
}

// giveUp gives up a job of whose outcome nothing is left.
func (s *Replicas) giveUp(r *Replica) {
	r.EndCampaign()
	s.changed(Gone, r)
}

// becomeOwner makes this node the owner after a won campaign.
func (s *Replicas) becomeOwner(now grid.Time, r *Replica, wasOwner, renewed bool, fx *grid.Effects) {
	if wasOwner && !renewed {
		s.changed(Lost, r)
	}
	clear(r.acked)
	clear(r.acceptedAt)
	clear(r.writeSent)
	r.unlisted = false
	s.Save(r, fx)
	s.changed(Merged, r)
	s.follow(now, r, r.state.Epoch, s.cfg.Self)
	s.MarkDirty(r)
	if renewed {
		s.changed(Renewed, r)
		return
	}
	s.changed(Owned, r)
}

// StepDown makes this node a plain member again.
func (s *Replicas) StepDown(r *Replica) {
	r.Register.StepDown()
	s.changed(Lost, r)
}

// sawHigherEpoch records that a member has promised a higher epoch, and perhaps who owns it.
func (s *Replicas) sawHigherEpoch(now grid.Time, r *Replica, a *grid.RegisterMessage) {
	if a.Epoch > r.promisedElsewhere {
		r.promisedElsewhere = a.Epoch
		s.delayCampaign(now, r)
	}
	if a.Epoch <= r.ownerEpoch || a.Owner.IsZero() || a.Owner == s.cfg.Self || r.Place(a.Owner) < 0 {
		return
	}
	if r.IsOwner() {
		s.StepDown(r)
	}
	s.Follow(now, r, a.Epoch, a.Owner)
}

// Follow records who owns an epoch, if it is newer than the known one and its owner another member.
func (s *Replicas) Follow(now grid.Time, r *Replica, epoch uint32, owner grid.NodeID) {
	if !s.follow(now, r, epoch, owner) || owner == s.cfg.Self {
		return
	}
	s.changed(Moved, r)
	s.answeredOwner(now, owner)
	if r.IsOwner() {
		s.StepDown(r)
	}
}

func (s *Replicas) follow(now grid.Time, r *Replica, epoch uint32, owner grid.NodeID) bool {
	if epoch <= r.ownerEpoch || r.Place(owner) < 0 {
		return false
	}
	r.owner, r.ownerEpoch, r.ownerSince = owner, epoch, s.wall.At(now).UnixNano()
	return true
}

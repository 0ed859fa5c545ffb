package replication

import (
	"time"

	"skep/grid"
)

// Bounds of time, for the lease L. A member votes for a new epoch not before TakeoverDelay(L) after it last answered
// the owner; the owner acts for L after it sent what was answered. With clocks off by at most δ = maxDrift either way,
// (1+δ)/(1−δ)·L on the faster clock is not shorter than L on the slower.
const maxDrift = 0.05

// TakeoverDelay is how long a member waits after it last answered the owner: see maxDrift, plus L/20 for a disk that
// releases effects late.
func TakeoverDelay(lease time.Duration) time.Duration {
	return time.Duration(float64(lease)*(1+maxDrift)/(1-maxDrift)) + lease/20
}

// MayAct reports whether this node holds a register's quorum lease: it is the owner, and a majority of the members has
// answered what it sent within a lease.
func (r *Replica) MayAct(now grid.Time) bool {
	return r.Ready() && now < r.MayActUntil()
}

// MayActUntil is the end of this node's quorum lease, unless further answers renew it.
func (r *Replica) MayActUntil() grid.Time {
	switch {
	case r.Sole() && r.mayActAlone():
		return grid.Never
	case r.Sole() || !r.IsOwner():
		return 0
	}
	var answered [grid.MaxMembers + 1]grid.Time
	answered[r.self] = grid.Never
	for place, id := range r.seats.Places() {
		if place != r.self && r.HasAccepted(place) {
			answered[place] = r.acked[place]
			// earlier keepalives did not list this register
			if p := r.of.by.Get(id); p != nil && p.leaseVerified > r.acceptedAt[place] {
				answered[place] = max(answered[place], p.leaseVerified)
			}
		}
	}
	if newest := r.seats.Newest(answered[:len(r.seats.Places())]); newest > 0 {
		return newest.Add(r.of.cfg.Lease)
	}
	return 0
}

// ownerLastAnswered is when this member last answered the owner that it follows. An owner that no longer lists the job
// may still rest on the answer to a write.
func (r *Replica) ownerLastAnswered() grid.Time {
	switch p := r.of.by.Get(r.owner); {
	case r.owner == r.of.cfg.Self:
		return 0
	case r.unlisted:
		return r.lastWrite
	case p == nil:
		return 0
	default:
		return p.ownerAnswered
	}
}

// answeredOwnerSince reports whether this member has agreed to a keepalive of the owner since then. A write, which it
// would have answered as well, ends a campaign by itself.
func (r *Replica) answeredOwnerSince(then grid.Time) bool {
	last := r.ownerLastAnswered()
	return !r.unlisted && last > 0 && last >= then
}

// ownerSilent reports whether this member has not answered the owner for the takeover delay: it may vote for another.
func (r *Replica) ownerSilent(now grid.Time) bool {
	return now >= r.ownerLastAnswered().Add(TakeoverDelay(r.of.cfg.Lease))
}

// TakeoverDue reports whether this member waits for a takeover: its owner is silent, or no longer lists the job.
func (r *Replica) TakeoverDue(now grid.Time) bool {
	return r.unlisted || r.ownerSilent(now)
}

// answeredOwner records that this node has answered another one as the owner of a register.
func (s *Replicas) answeredOwner(now grid.Time, owner grid.NodeID) {
	p := s.member(owner)
	p.ownerAnswered = max(p.ownerAnswered, now)
}

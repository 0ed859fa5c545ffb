package register

import (
	"skep/grid"
	"skep/sparse"
)

// campaign is a member's try to become the owner of a new epoch.
type campaign struct {
	epoch         uint32
	votes         []vote                   // by place
	entries       sparse.List[*grid.Final] // of the highest epoch among what the others hold
	otherAccepted bool                     // somebody has accepted what another owner wrote
}

type vote struct {
	answer   grid.RegisterAnswer // 0 = none yet
	next     uint32              // first entry that has not come
	complete bool                // all have come
}

// Outcome says what a bid has come to.
type Outcome uint8

// What a bid comes to.
const (
	CampaignOpen    Outcome = iota // more answers are needed
	CampaignWon                    // this member is the owner; every entry and the state are to be saved
	CampaignRenewed                // so it is, it was before, and nobody else has acted since; to be saved likewise
	CampaignLost                   // somebody else is the owner, or may be: try again later, if at all
	CampaignVoid                   // the origin has forgotten the register: it is long over
	CampaignDone                   // every task has ended; every entry and the state are to be saved
)

// Campaign begins a try at an epoch above any that is known of here. Nothing is to be saved: this member promises
// its own epoch only when enough others have, so that a try that fails leaves the owner undisturbed.
func (r *Register) Campaign(above uint32) {
	r.campaign = &campaign{epoch: max(r.state.Promised, above) + 1, votes: make([]vote, len(r.members)), entries: sparse.Make[*grid.Final](uint32(r.slots.Len()))}
}

// CampaignEpoch returns the epoch that this member tries for; 0 = none.
func (r *Register) CampaignEpoch() uint32 {
	if r.campaign == nil {
		return 0
	}
	return r.campaign.epoch
}

// EndCampaign ends a try.
func (r *Register) EndCampaign() { r.campaign = nil }

// VoteRequest fills g with what the member of that place is to be asked, and reports whether there is something.
func (r *Register) VoteRequest(place int, g *grid.Register) bool {
	if r.campaign == nil || place == r.self {
		return false
	}
	v := &r.campaign.votes[place]
	if v.complete || v.answer == grid.RegisterUnknown {
		return false
	}
	g.Epoch, g.Next, g.Seq = r.campaign.epoch, v.next, uint64(v.next)
	return true
}

// VoteReceived takes a member's answer. seq is as in Lead, for BidWon and BidRenewed.
func (r *Register) VoteReceived(from grid.NodeID, g *grid.Register, seq uint64) Outcome {
	place := r.Place(from)
	if r.campaign == nil || place < 0 || place == r.self || g.Epoch != r.campaign.epoch && g.Answer != grid.RegisterHigher {
		return CampaignOpen
	}
	v := &r.campaign.votes[place]
	switch g.Answer {
	case grid.RegisterHigher, grid.RegisterLive:
		r.campaign = nil
		return CampaignLost
	case grid.RegisterUnknown:
		v.answer = g.Answer
	case grid.RegisterOK, grid.RegisterDone:
		r.campaign.otherAccepted = r.campaign.otherAccepted || !g.Owner.IsZero() && g.Owner != r.members[r.self]
		if g.Seq != uint64(v.next) || v.complete || v.answer != 0 && v.answer != g.Answer {
			return CampaignOpen // repeated, or of another time
		}
		v.answer, v.next, v.complete = g.Answer, g.Next, !g.More
		r.campaign.merge(g.Finals)
		if v.complete && g.Answer == grid.RegisterDone {
			return r.learnOutcome()
		}
	}
	return r.countVotes(seq)
}

// merge keeps of each entry what was accepted in the highest epoch.
func (b *campaign) merge(finals []grid.Final) {
	for k := range finals {
		f := finals[k]
		if int(f.Index) >= b.entries.Len() {
			continue
		}
		if best := b.entries.At(f.Index); *best == nil || (*best).Epoch < f.Epoch {
			*best = &f
		}
	}
}

// countVotes ends the bid if enough members have promised, or too many cannot.
func (r *Register) countVotes(seq uint64) Outcome {
	promised := 1
	for _, v := range r.campaign.votes {
		if v.answer == grid.RegisterOK && v.complete {
			promised++
		}
	}
	s, epoch := &r.state, r.campaign.epoch
	switch {
	case r.campaign.votes[0].answer == grid.RegisterUnknown: // it had the job before anybody else
		r.campaign = nil
		return CampaignVoid
	case promised < r.Majority():
		return CampaignOpen
	case s.Promised >= epoch:
		r.campaign = nil
		return CampaignLost
	}
	me, won := r.members[r.self], CampaignWon
	if r.ownership != nil && !r.campaign.otherAccepted {
		won = CampaignRenewed // who acts has been accepted by a majority, and one of that has promised now
	}
	for i, f := range r.campaign.entries.All() {
		if v, final := r.Value(i); *f != nil && (v == nil || v.Epoch < (*f).Epoch) {
			r.set(i, slot{value: *f, committed: final})
		}
	}
	for _, x := range r.slots.All() {
		if x.value != nil {
			own := *x.value
			own.Epoch = epoch
			x.value = &own
		}
	}
	*s = State{Promised: epoch, VotedFor: me, Epoch: epoch, Owner: me}
	r.BecomeOwner(seq)
	return won
}

// learnOutcome takes over the outcome that a member knows to be final. All of it is of one epoch, the highest.
func (r *Register) learnOutcome() Outcome {
	last := uint32(0)
	for i, f := range r.campaign.entries.All() {
		if *f != nil {
			r.set(i, slot{value: *f, committed: true})
			last = max(last, (*f).Epoch)
		}
	}
	r.dropCancellation(last)
	r.campaign, r.ownership, r.state.Done = nil, nil, true
	return CampaignDone
}

package replication

import (
	"math"

	"skep/grid"
	"skep/sparse"
)

// campaign is a member's attempt to become the owner of a new epoch.
type campaign struct {
	epoch         uint32
	votes         []vote                   // by place
	entries       sparse.List[*grid.Entry] // of the others' entries, those of the highest epoch
	bytes         grid.Bytes               // of entries
	otherAccepted bool                     // a voter has accepted another owner's writes
	opened        uint32                   // most times that a voter knows the register opened
}

type vote struct {
	answer   grid.RegisterAnswer // 0 = none yet
	next     uint32              // first missing entry
	complete bool                // all entries have come
	signed   string              // of a signed job: the voter's signature
}

// Outcome is the outcome of a campaign.
type Outcome uint8

// Outcomes of a campaign.
const (
	CampaignOpen    Outcome = iota // more votes are needed
	CampaignWon                    // this member is the owner; save all entries and the state
	CampaignRenewed                // as CampaignWon, and it was the owner before and nobody else has acted since
	CampaignLost                   // another member is the owner, or may be: campaign again later, if at all
	CampaignRefused                // as CampaignOpen, but to one voter the owner is alive: ask again later
	CampaignVoid                   // the origin has forgotten the register: the job is long over
	CampaignDone                   // the job is closed; save all entries and the state
	CampaignGone                   // the job is closed, and no member has its outcome any more
)

// Campaign begins a campaign for an epoch above any known here. Nothing needs saving: this member votes for itself only
// once enough others have voted, so a failed campaign leaves the owner undisturbed.
func (r *Register) Campaign(above uint32) {
	r.campaignFor(max(r.state.Promised, above) + 1)
}

func (r *Register) campaignFor(epoch uint32) {
	r.campaign = &campaign{epoch: epoch, votes: make([]vote, len(r.seats.Places())),
		entries: sparse.Make[*grid.Entry](uint32(r.slots.Len()))}
}

// plausible reports whether members may have got to an epoch that one of them speaks of: not far beyond what this one
// has promised. Epochs grow by one from campaign to campaign, so a false one could use them up and nobody would own the
// job any more; as a part of those that are left they never run out.
func (r *Register) plausible(epoch uint32) bool {
	left := math.MaxUint32 - r.state.Promised
	return epoch <= r.state.Promised || epoch-r.state.Promised <= max(left>>8, 1)
}

// CampaignEpoch returns the epoch of this member's campaign; 0 = none.
func (r *Register) CampaignEpoch() uint32 {
	if r.campaign == nil {
		return 0
	}
	return r.campaign.epoch
}

// EndCampaign abandons the campaign.
func (r *Register) EndCampaign() { r.campaign = nil }

// StepDown makes an owner a plain member: it has heard of a higher epoch.
func (r *Register) StepDown() {
	r.depose()
	r.campaign = nil
}

// VoteRequest fills g with the request for a member's vote, and reports whether there is one. place is −1 of a node
// that has none any more.
func (r *Register) VoteRequest(place int, g *grid.RegisterMessage) bool {
	if r.campaign == nil || place < 0 || place == r.self {
		return false
	}
	v := &r.campaign.votes[place]
	if v.complete || v.answer == grid.RegisterUnknown {
		return false
	}
	g.Epoch, g.Next, g.Seq = r.campaign.epoch, v.next, uint64(v.next)
	g.Opened = max(r.state.Opened, r.campaign.opened) // else who knows it closed before says so for ever
	g.Set = r.state.Set
	return true
}

// VoteReceived handles a member's answer to the campaign. seq is as in BecomeOwner, for CampaignWon and
// CampaignRenewed.
func (r *Register) VoteReceived(from grid.NodeID, g *grid.RegisterMessage, seq uint64) Outcome {
	place := r.Place(from)
	if r.campaign == nil || place < 0 || place == r.self || g.Epoch != r.campaign.epoch &&
		g.Answer != grid.RegisterHigher && g.Answer != grid.RegisterGone {
		return CampaignOpen
	}
	v := &r.campaign.votes[place]
	switch g.Answer {
	case grid.RegisterHigher:
		if !r.plausible(g.Epoch) {
			v.answer = grid.RegisterUnknown
			break
		}
		r.campaign = nil
		return CampaignLost
	case grid.RegisterReplaced: // others may know this node still
	case grid.RegisterLive: // no vote, but a majority of others may do: then the owner can write nothing any more
		return CampaignRefused
	case grid.RegisterGone:
		if g.Opened < max(r.state.Opened, r.campaign.opened) { // of an earlier close
			v.answer = grid.RegisterUnknown
			break
		}
		return r.heardClosed(v, g, seq)
	case grid.RegisterUnknown:
		v.answer = g.Answer
	case grid.RegisterOK, grid.RegisterDone:
		// of an earlier close, as this member or a voter knows: it is asked again
		if g.Answer == grid.RegisterDone && g.Opened < max(r.state.Opened, r.campaign.opened) {
			return CampaignOpen
		}
		r.campaign.otherAccepted = r.campaign.otherAccepted || !g.Owner.IsZero() && g.Owner != r.me
		if g.Seq != uint64(v.next) || v.complete || v.answer != 0 && v.answer != g.Answer {
			return CampaignOpen // repeated, or an answer to another request
		}
		if g.More && g.Next <= v.next {
			return CampaignOpen // pages only go on
		}
		r.campaign.opened = max(r.campaign.opened, g.Opened)
		v.answer, v.next, v.complete, v.signed = g.Answer, g.Next, !g.More, g.Vote
		r.campaign.merge(g.Entries)
		if v.complete && g.Answer == grid.RegisterDone {
			return r.learnOutcome(v, seq)
		}
	}
	return r.countVotes(seq)
}

// merge takes over the entries that were accepted in a higher epoch, or are of a later round of the same.
func (c *campaign) merge(finals []grid.Entry) {
	for k := range finals {
		f := finals[k]
		if int(f.Index) >= c.entries.Len() || f.Epoch == 0 { // no owner has epoch 0; on disk it marks a task that goes on
			continue
		}
		if current := c.entries.At(f.Index); *current == nil || (*current).OlderThan(f.Epoch, f.Round) {
			if *current != nil {
				c.bytes -= grid.Bytes((*current).Weight())
			}
			c.bytes += grid.Bytes(f.Weight())
			*current = &f
		}
	}
}

// countVotes ends the campaign if a majority has voted for it, or if it has become void.
func (r *Register) countVotes(seq uint64) Outcome {
	if r.closedIn > 0 {
		return r.collectOutcome(seq)
	}
	granted := uint8(0)
	for place, v := range r.campaign.votes {
		if v.answer == grid.RegisterOK && v.complete {
			granted |= 1 << place
		}
	}
	s, epoch := &r.state, r.campaign.epoch
	switch {
	case s.Opened == 0 && s.Set == nil && r.campaign.votes[0].answer == grid.RegisterUnknown:
		// the origin had the job first: it has forgotten it
		r.campaign = nil
		return CampaignVoid
	case !r.MayOwn() || !r.decides(granted):
		return CampaignOpen
	case s.Promised >= epoch:
		r.campaign = nil
		return CampaignLost
	}
	self, outcome := r.me, CampaignWon
	if r.ownership != nil && !r.campaign.otherAccepted {
		// any other owner's writes were accepted by a majority, and a member of that majority has voted now
		outcome = CampaignRenewed
	}
	for i, f := range r.campaign.entries.All() {
		if v, final := r.Value(i); *f != nil && (v == nil || v.OlderThan((*f).Epoch, (*f).Round)) {
			r.set(i, slot{value: r.inherit(v, *f), committed: final && v.Round == (*f).Round && (*f).Offered == nil})
		}
	}
	for _, x := range r.slots.All() {
		if x.value != nil {
			entry := *x.value
			entry.Epoch = epoch
			x.value = &entry
		}
	}
	opened := max(s.Opened, r.campaign.opened)
	*s = grid.RegisterState{Promised: epoch, VotedFor: self, Epoch: epoch, Owner: self, Opened: opened, Set: s.Set,
		Genesis: s.Genesis, Mandate: r.mandate(epoch, self)}
	r.restate()
	r.BecomeOwner(seq)
	return outcome
}

// inherit returns an entry that comes with a vote, which succeeds own (nil = none). Of which tasks may have been
// offered this member takes away none that may have been as far as it knows itself: a voter that lies would have tasks
// run again.
func (r *Register) inherit(own, voted *grid.Entry) *grid.Entry {
	if voted.Offered == nil {
		return voted
	}
	known, e := grid.FirstOffered(r.tasks), *voted
	if own != nil && own.Offered != nil {
		known = own.Offered
	}
	e.Offered = voted.Offered.With(known)
	return &e
}

// Page adds the entries from next on to an answer, as far as they fit.
func (r *Register) Page(next uint32, g *grid.RegisterMessage) {
	size := 0
	g.Next, g.More = max(next, uint32(r.slots.Len())), false
	for i, x := range r.slots.From(next) {
		f := x.value
		if f == nil {
			continue
		}
		if size += f.Weight(); len(g.Entries) == grid.MaxEntries || len(g.Entries) > 0 && size > int(grid.MaxEntriesSize) {
			g.Next, g.More = i, true
			return
		}
		g.Entries = append(g.Entries, *f)
	}
}

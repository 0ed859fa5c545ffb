package register

import (
	"skep/grid"
	"skep/sparse"
)

// bid is a member's try to become the owner of a new epoch.
type bid struct {
	epoch  uint32
	voters []voter                  // by place
	best   sparse.List[*grid.Final] // of the highest epoch among what the others hold
	others bool                     // somebody has accepted what another owner wrote
}

type voter struct {
	answer grid.RegisterAnswer // 0 = none yet
	next   uint32              // first entry that has not come
	whole  bool                // all have come
}

// Outcome says what a bid has come to.
type Outcome uint8

// What a bid comes to.
const (
	BidOpen    Outcome = iota // more answers are needed
	BidWon                    // this member is the owner; every entry and the state are to be saved
	BidRenewed                // so it is, it was before, and nobody else has acted since; to be saved likewise
	BidLost                   // somebody else is the owner, or may be: try again later, if at all
	BidVoid                   // the origin has forgotten the register: it is long over
	BidDone                   // every task has ended; every entry and the state are to be saved
)

// Bid begins a try at an epoch above any that is known of here. Nothing is to be saved: this member promises
// its own epoch only when enough others have, so that a try that fails leaves the owner undisturbed.
func (r *Register) Bid(above uint32) {
	r.bid = &bid{epoch: max(r.state.Promised, above) + 1, voters: make([]voter, len(r.members)), best: sparse.Make[*grid.Final](uint32(r.slots.Len()))}
}

// Bids returns the epoch that this member tries for; 0 = none.
func (r *Register) Bids() uint32 {
	if r.bid == nil {
		return 0
	}
	return r.bid.epoch
}

// GiveUp ends a try.
func (r *Register) GiveUp() { r.bid = nil }

// Asks fills g with what the member of that place is to be asked, and reports whether there is something.
func (r *Register) Asks(place int, g *grid.Register) bool {
	if r.bid == nil || place == r.self {
		return false
	}
	v := &r.bid.voters[place]
	if v.whole || v.answer == grid.RegisterUnknown {
		return false
	}
	g.Epoch, g.Next, g.Seq = r.bid.epoch, v.next, uint64(v.next)
	return true
}

// Promised takes a member's answer. seq is as in Lead, for BidWon and BidRenewed.
func (r *Register) Promised(from grid.NodeID, g *grid.Register, seq uint64) Outcome {
	place := r.Place(from)
	if r.bid == nil || place < 0 || place == r.self || g.Epoch != r.bid.epoch && g.Answer != grid.RegisterHigher {
		return BidOpen
	}
	v := &r.bid.voters[place]
	switch g.Answer {
	case grid.RegisterHigher, grid.RegisterLive:
		r.bid = nil
		return BidLost
	case grid.RegisterUnknown:
		v.answer = g.Answer
	case grid.RegisterOK, grid.RegisterDone:
		r.bid.others = r.bid.others || !g.Owner.IsZero() && g.Owner != r.members[r.self]
		if g.Seq != uint64(v.next) || v.whole || v.answer != 0 && v.answer != g.Answer {
			return BidOpen // repeated, or of another time
		}
		v.answer, v.next, v.whole = g.Answer, g.Next, !g.More
		r.bid.take(g.Finals)
		if v.whole && g.Answer == grid.RegisterDone {
			return r.learn()
		}
	}
	return r.count(seq)
}

// take keeps of each entry what was accepted in the highest epoch.
func (b *bid) take(finals []grid.Final) {
	for k := range finals {
		f := finals[k]
		if int(f.Index) >= b.best.Len() {
			continue
		}
		if best := b.best.At(f.Index); *best == nil || (*best).Epoch < f.Epoch {
			*best = &f
		}
	}
}

// count ends the bid if enough members have promised, or too many cannot.
func (r *Register) count(seq uint64) Outcome {
	promised := 1
	for _, v := range r.bid.voters {
		if v.answer == grid.RegisterOK && v.whole {
			promised++
		}
	}
	s, epoch := &r.state, r.bid.epoch
	switch {
	case r.bid.voters[0].answer == grid.RegisterUnknown: // it had the job before anybody else
		r.bid = nil
		return BidVoid
	case promised < r.Majority():
		return BidOpen
	case s.Promised >= epoch:
		r.bid = nil
		return BidLost
	}
	me, won := r.members[r.self], BidWon
	if r.lead != nil && !r.bid.others {
		won = BidRenewed // who acts has been accepted by a majority, and one of that has promised now
	}
	for i, f := range r.bid.best.All() {
		if v, final := r.Value(i); *f != nil && (v == nil || v.Epoch < (*f).Epoch) {
			r.put(i, slot{value: *f, final: final})
		}
	}
	for _, x := range r.slots.All() {
		if x.value != nil {
			own := *x.value
			own.Epoch = epoch
			x.value = &own
		}
	}
	*s = State{Promised: epoch, To: me, Epoch: epoch, Owner: me}
	r.Lead(seq)
	return won
}

// learn takes over the outcome that a member knows to be final. All of it is of one epoch, the highest.
func (r *Register) learn() Outcome {
	last := uint32(0)
	for i, f := range r.bid.best.All() {
		if *f != nil {
			r.put(i, slot{value: *f, final: true})
			last = max(last, (*f).Epoch)
		}
	}
	r.void(last)
	r.bid, r.lead, r.state.Done = nil, nil, true
	return BidDone
}

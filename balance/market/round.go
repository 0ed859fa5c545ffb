package market

import "math"

// A round is a market without a matcher: one owner has tasks that wait and knows nodes by what they have answered, and
// matches the ones with the others by the row of a protocol. What differs from [Market], where one matcher knows all:
//
//   - A node has slots, and is free if one of them is by the time that a task sent in the round would be there: it is
//     sent one task ahead, so that no slot waits for messages.
//   - An offer is what a node answered and what this owner has placed there in the round. Other owners do the same at
//     the same time; the node decides, by its own order.
//   - Tasks are of kinds that are alike, and what ages is the bid of the next task of a kind.

// Round matches tasks with nodes.
type Round struct {
	Until float64 // a node is free if it has a slot by then, seconds
	Most  int     // bound of the deals

	// Turn orders the sellers under Ring: positions in the list, the next one first.
	Turn []int

	// Prefers reports whether seller a takes the place of seller b, which is as good; nth counts the equal ones. nil =
	// it does not.
	Prefers func(a, b, nth int) bool

	p       *Protocol
	sellers []Seller
	turned  int // of Turn: deals made
	values  values
}

// Match appends the deals of a round, in the order in which they were made. What they leave is in kinds and sellers.
func (r *Round) Match(p *Protocol, kinds []Kind, sellers []Seller, dst []Deal) []Deal {
	r.p, r.sellers, r.turned = p, sellers, 0
	for i := range kinds {
		kinds[i].done, kinds[i].closed = 0, false
	}
	if p.Order == ByValue {
		r.values.reset(r, kinds)
	}
	for range r.Most {
		d, found := r.next(kinds)
		if !found {
			break
		}
		r.close(&kinds[d.Kind], d.Seller)
		if p.Order == ByValue {
			r.values.close(r, kinds, d)
		}
		dst = append(dst, d)
	}
	return dst
}

// next returns the next deal: of the kind whose turn it is and for which there is a seller.
func (r *Round) next(kinds []Kind) (Deal, bool) {
	for {
		best, rank := -1, math.Inf(1)
		for i := range kinds {
			k := &kinds[i]
			if k.closed || k.done == k.Tasks {
				continue
			}
			if x := r.rank(i, k); best < 0 || x < rank {
				best, rank = i, x
			}
		}
		if best < 0 {
			return Deal{}, false
		}
		k := &kinds[best]
		if j := r.seller(k); j >= 0 {
			start, end := r.times(k, j)
			return Deal{Kind: best, Seller: j, Free: r.free(j), Start: start, End: end}, true
		}
		k.closed = true // nobody becomes free in a round
	}
}

// rank is the place of a kind's next task in the order of those that wait; of equal ones the first kind is next.
func (r *Round) rank(i int, k *Kind) float64 {
	switch r.p.Order {
	case ByArrival:
		return -k.Age
	case BySize:
		least := math.Inf(1)
		for _, e := range k.Alone {
			least = min(least, e)
		}
		return least
	case ByValue: // the most that any seller would deliver
		return -r.values.most[i]
	}
	return -k.bid()
}

// seller returns the seller for a kind's next task; −1 = none.
func (r *Round) seller(k *Kind) int {
	if r.p.Choice == Ring {
		for at := range r.Turn {
			if j := r.Turn[(at+r.turned)%len(r.Turn)]; r.accepts(k, j) {
				r.turned = (at + r.turned + 1) % len(r.Turn)
				return j
			}
		}
		return -1
	}
	if r.p.Choice == Cheapest {
		return r.best(k, r.compareCosts)
	}
	return r.best(k, r.compareSpeeds)
}

// hasSlot reports whether a seller has a free slot by the time that a task sent by the end of the round would be there.
func (r *Round) hasSlot(j int) bool { return r.sellers[j].Idle >= 1 || r.sellers[j].due() <= r.Until }

// accepts reports whether a seller is a candidate for a kind's next task.
func (r *Round) accepts(k *Kind, j int) bool {
	s := &r.sellers[j]
	if !(k.Alone[j] < math.Inf(1)) || r.p.Reserve && k.bid() < s.Price {
		return false
	}
	if r.p.Candidate != Any && !r.hasSlot(j) && !(r.p.Candidate == Outbids && r.outbids(k, s)) {
		return false
	}
	_, end := r.times(k, j)
	return end <= k.Zero
}

// outbids reports whether a kind's tasks would have running work suspended: by what they bid, however long they have
// waited, since that is what the node goes by.
func (r *Round) outbids(k *Kind, s *Seller) bool {
	return s.Outbid > 0 && k.Bid > s.Outbid && k.Bid >= r.p.Outbid*s.Outbid
}

// share is the part of a slot that a task gets: all of it, or under Proportional what its bid is of all bids.
func (r *Round) share(k *Kind, j int) float64 {
	s := &r.sellers[j]
	if r.p.Serving != Proportional || s.Bids <= 0 {
		return 1
	}
	return min(1, k.Bid/(s.Bids+k.Bid/max(s.Slots, 1)))
}

// speed is that at which a task would run, in tasks of its kind a second.
func (r *Round) speed(k *Kind, j int) float64 { return r.share(k, j) / max(k.Alone[j], 1e-9) }

// free is when a task is to be sent to a seller for the slot that it gets.
func (r *Round) free(j int) float64 {
	s := &r.sellers[j]
	if r.p.Candidate == Any || s.Idle >= 1 || !r.hasSlot(j) {
		return 0
	}
	return s.due()
}

// times are when a kind's next task would start and end at a seller.
func (r *Round) times(k *Kind, j int) (start, end float64) {
	if s := &r.sellers[j]; r.p.Candidate != Any && s.Idle < 1 && r.hasSlot(j) {
		start = s.Ready
	}
	if k.Fetch != nil {
		start = max(start, k.Fetch[j])
	}
	return start, start + k.Alone[j]/max(r.share(k, j), 1e-9)
}

// close takes from a seller what a task of a kind gets.
func (r *Round) close(k *Kind, j int) {
	s := &r.sellers[j]
	switch {
	case s.Idle >= 1:
		s.Idle--
	case r.hasSlot(j):
		s.Ready += k.Alone[j] / max(s.Slots, 1)
	default:
		s.Outbid = 0 // what runs then is not known
	}
	if s.Idle < 1 && s.Ready <= 0 {
		s.Ready = k.Alone[j] / max(s.Slots, 1)
	}
	s.Bids += k.Bid / max(s.Slots, 1)
	k.done++
}

// Left returns when the next of a kind's tasks without a deal would be done if it waited for the seller that would be
// soonest, whatever it bids; +Inf if none can run it.
func (r *Round) Left(k *Kind) (end float64) {
	end = math.Inf(1)
	for j := range r.sellers {
		end = min(end, r.sellers[j].Ready+k.Alone[j])
	}
	return end
}

// Next is when a task without a deal may get one, in seconds: when the first seller has a slot. A seller that has one
// refused all that are left: its price or theirs may have changed after a while.
func (r *Round) Next() float64 {
	next := math.Inf(1)
	for j := range r.sellers {
		if r.hasSlot(j) {
			next = min(next, max(r.Until, askAgain))
		} else {
			next = min(next, r.sellers[j].due())
		}
	}
	return next
}

// askAgain is after how many seconds a seller with a free slot is asked again.
const askAgain = 1.0

package market

import "slices"

// Market is an order book: the offers of servers and the queries that wait. It is not safe for concurrent use.
type Market struct {
	p       Protocol
	offers  []*Offer
	waiting []*Query // the first goes first; by arrival under ByValue
	next    int      // Ring: where the next search begins
	seq     uint64
	judged  Judged
	ahead   int

	judgesRunning bool
	equalByBid    bool
}

// New returns a market of these servers' offers. Their order decides between equals.
func New(p Protocol, offers []*Offer) *Market { return &Market{p: p, offers: offers} }

// Judge says by what the deadlines of tasks that are to move are judged, and whether also those of tasks that run; by
// default by what is left of them, and not.
func (m *Market) Judge(by Judged, running bool) { m.judged, m.judgesRunning = by, running }

// EqualByBid gives an offer, of queries that would deliver equally much on it, as all do that are late for it, the one
// that bids most, under ByValue; by default the one that came first.
func (m *Market) EqualByBid(is bool) { m.equalByBid = is }

// Ahead lets a server that takes one task at a time have so many further ones before it is free, so that it need not
// stand idle while messages are on their way; by default none. An idle server goes before such a one, and of these the
// one that is due first.
func (m *Market) Ahead(tasks int) { m.ahead = tasks }

// Waiting is the number of queries that wait.
func (m *Market) Waiting() int { return len(m.waiting) }

// Query matches a query with an offer, or lets it wait and returns nil, as it does with all if matches are made at
// ticks. A query of which the deadline has passed does not wait, nor does one of a task that runs.
func (m *Market) Query(now float64, q *Query) *Offer {
	if now >= q.Deadline {
		return nil
	}
	if m.p.Interval == 0 {
		if o := m.find(now, q); o != nil {
			m.match(now, o, q)
			return o
		}
	}
	if !q.Runs {
		m.insert(q)
	}
	return nil
}

// Update matches an offer that has changed with the first query that it suits, and removes queries before that one of
// which the deadline has passed. nil = none.
func (m *Market) Update(now float64, o *Offer) *Query {
	if m.p.Interval > 0 || len(m.waiting) == 0 || !m.open(o, m.ahead) {
		return nil
	}
	if m.p.Order == ByValue {
		return m.mostWorth(now, o)
	}
	kept := 0
	for i, q := range m.waiting {
		if now >= q.Deadline {
			continue
		}
		if m.accepts(now, o, q) {
			if m.waiting = slices.Delete(m.waiting, kept, i); kept == 0 {
				m.waiting = m.waiting[1:] // moves nothing
			} else {
				m.waiting = slices.Delete(m.waiting, kept, kept+1)
			}
			m.match(now, o, q)
			m.next = (m.next + 1) % len(m.offers)
			return q
		}
		if m.p.Order == ByBid && (q.Bid < o.Price || m.p.Candidate == Outbids && !m.outbids(o, q)) {
			m.waiting = slices.Delete(m.waiting, kept, i) // those behind bid less
			return nil
		}
		m.waiting[kept] = q
		kept++
	}
	m.waiting = m.waiting[:kept]
	return nil
}

// Cancel removes a query that waits, and reports whether it did.
func (m *Market) Cancel(q *Query) bool {
	if i := slices.Index(m.waiting, q); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
		return true
	}
	return false
}

// Attract returns the offer of which the task would run faster at o and outbids what runs there, the one of the highest
// bid; nil = none. The move is the caller's [1, section 6.5.8, case 3].
func (m *Market) Attract(o *Offer) (from *Offer) {
	if !m.p.Active || o.Available <= 0 {
		return nil
	}
	for _, x := range m.offers {
		if x == o || !x.Busy || x.High < o.Price || o.Rate() <= x.Rate() {
			continue
		}
		if o.Busy && !(x.High > o.High && x.High >= m.p.Outbid*o.High) {
			continue
		}
		if from == nil || x.High > from.High {
			from = x
		}
	}
	return from
}

// Take records that a task that runs elsewhere moves to an offer.
func (m *Market) Take(o *Offer, task uint64, bid float64) {
	o.Busy, o.High, o.Running = true, bid, task
}

// find returns the offer for a query; nil = none.
func (m *Market) find(now float64, q *Query) *Offer {
	if o := m.idle(now, q); o != nil || m.ahead == 0 || m.p.Candidate != Free {
		return o
	}
	return m.soonest(now, q)
}

// soonest returns the offer that is due first of those that have tasks and can have more; nil = none.
func (m *Market) soonest(now float64, q *Query) (best *Offer) {
	for _, o := range m.offers {
		if m.open(o, m.ahead) && (best == nil || o.Due < best.Due) && m.accepts(now, o, q) {
			best = o
		}
	}
	return best
}

// idle returns the offer for a query that can have it at once; nil = none.
func (m *Market) idle(now float64, q *Query) (best *Offer) {
	if m.p.Choice == Ring {
		for range m.offers {
			o := m.offers[m.next]
			if m.next++; m.next == len(m.offers) {
				m.next = 0
			}
			if m.open(o, 0) && m.accepts(now, o, q) {
				return o
			}
		}
		return nil
	}
	fastest := 0.0
	for _, o := range m.offers {
		if !m.open(o, 0) {
			continue
		}
		speed := m.speed(o, q)
		if best != nil && !m.better(o, best, speed, fastest) {
			continue
		}
		if m.accepts(now, o, q) {
			best, fastest = o, speed
		}
	}
	return best
}

// better reports whether an offer takes the place of another one that suits the query, at speeds of its task. Offers
// that miss its deadline suit it nowhere, so under Cheapest only the cost is compared.
func (m *Market) better(o, than *Offer, speed, fastest float64) bool {
	switch m.p.Choice {
	case Cheapest:
		if a, b := o.Price/speed, than.Price/fastest; a != b {
			return a < b
		}
	case Lowest:
		return speed > fastest || speed == fastest && lower(o, than)
	}
	return speed > fastest
}

// lower reports whether an offer executes a lower bid than another one.
func lower(o, than *Offer) bool {
	if !o.Busy || !than.Busy {
		return than.Busy && !o.Busy
	}
	return o.High < than.High
}

// speed is that at which a task would run.
func (m *Market) speed(o *Offer, q *Query) float64 {
	if m.p.Serving != Proportional || o.Bids == 0 {
		return o.Rate()
	}
	return o.Rate() * q.Bid / (o.Bids + q.Bid)
}

// open reports whether an offer can take any task now, where it may have so many.
func (m *Market) open(o *Offer, given int) bool {
	return o.Available > 0 && !(m.p.Candidate == Free && o.Given > given)
}

// accepts reports whether an open offer and a query suit each other.
func (m *Market) accepts(now float64, o *Offer, q *Query) bool {
	if q.Bid < o.Price || q.From == o.Server {
		return false
	}
	if m.p.Candidate == Outbids && !m.outbids(o, q) {
		return false
	}
	speed := m.speed(o, q)
	if q.Runs && speed <= q.Slower {
		return false
	}
	if q.Runs {
		return m.InTime(now, o, q)
	}
	return m.meets(m.begins(now, o), q, speed, q.From >= 0)
}

// begins is when an offer would begin a further task: one that has tasks already, ahead of time, when they are due.
func (m *Market) begins(now float64, o *Offer) float64 {
	if m.p.Candidate == Free && o.Given > 0 {
		return max(now, o.Due)
	}
	return now
}

// outbids reports whether a query's task would be executed at once.
func (m *Market) outbids(o *Offer, q *Query) bool {
	return !o.Busy || q.Bid > o.High && q.Bid >= m.p.Outbid*o.High
}

// match records a match in the offer.
func (m *Market) match(now float64, o *Offer, q *Query) {
	switch m.p.Candidate {
	case Free:
		o.Given++
		o.Due = max(now, o.Due) + q.Left/o.Rate()
	case Outbids:
		m.Take(o, q.ID, q.Bid)
	case Any:
		o.Bids += q.Bid
	}
}

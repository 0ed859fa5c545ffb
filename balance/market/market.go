package market

import (
	"math"
	"slices"
	"sort"
)

// Market is an order book: the offers of servers and the queries that wait. It is not safe for concurrent use.
type Market struct {
	p       Protocol
	offers  []*Offer
	waiting []*Query // the first goes first; by arrival under ByValue
	next    int      // Ring: where the next search begins
	seq     uint64
	judged  Judged
}

// New returns a market of these servers' offers. Their order decides between equals.
func New(p Protocol, offers []*Offer) *Market { return &Market{p: p, offers: offers} }

// Judge says by what the deadlines of tasks that are to move are judged; by default by what is left of them.
func (m *Market) Judge(by Judged) { m.judged = by }

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
			m.match(o, q)
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
	if m.p.Interval > 0 || len(m.waiting) == 0 || !m.open(o) {
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
			m.match(o, q)
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
func (m *Market) find(now float64, q *Query) (best *Offer) {
	if m.p.Choice == Ring {
		for range m.offers {
			o := m.offers[m.next]
			if m.next++; m.next == len(m.offers) {
				m.next = 0
			}
			if m.open(o) && m.accepts(now, o, q) {
				return o
			}
		}
		return nil
	}
	fastest := 0.0
	for _, o := range m.offers {
		if !m.open(o) {
			continue
		}
		speed := m.speed(o, q)
		if best != nil && !(speed > fastest || m.p.Choice == Lowest && speed == fastest && lower(o, best)) {
			continue
		}
		if m.accepts(now, o, q) {
			best, fastest = o, speed
		}
	}
	return best
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

// open reports whether an offer can take any task now.
func (m *Market) open(o *Offer) bool {
	return o.Available > 0 && !(m.p.Candidate == Free && o.Reserved)
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
	if math.IsInf(q.Deadline, 1) || q.Runs {
		return true
	}
	left := q.Left
	switch {
	case q.From >= 0 && m.judged == Unjudged:
		return true
	case m.judged == ByWhole:
		left = q.Size
	}
	return now+left/speed <= q.Deadline
}

// outbids reports whether a query's task would be executed at once.
func (m *Market) outbids(o *Offer, q *Query) bool {
	return !o.Busy || q.Bid > o.High && q.Bid >= m.p.Outbid*o.High
}

// match records a match in the offer.
func (m *Market) match(o *Offer, q *Query) {
	switch m.p.Candidate {
	case Free:
		o.Reserved = true
	case Outbids:
		m.Take(o, q.ID, q.Bid)
	case Any:
		o.Bids += q.Bid
	}
}

// mostWorth is Update where what waits is ordered by what it would deliver on that offer.
func (m *Market) mostWorth(now float64, o *Offer) *Query {
	best, most := -1, math.Inf(-1)
	m.waiting = slices.DeleteFunc(m.waiting, func(q *Query) bool { return now >= q.Deadline })
	for i, q := range m.waiting {
		if w := q.worth(now, o); w > most && m.accepts(now, o, q) {
			best, most = i, w
		}
	}
	if best < 0 {
		return nil
	}
	q := m.waiting[best]
	m.waiting = slices.Delete(m.waiting, best, best+1)
	m.match(o, q)
	return q
}

// rank is the place of a query in the order of those that wait.
func (m *Market) rank(q *Query) float64 {
	switch m.p.Order {
	case ByBid:
		return -q.Bid
	case BySize:
		return q.Size
	}
	return 0
}

// insert puts a query among those that wait.
func (m *Market) insert(q *Query) {
	m.seq++
	q.rank, q.seq = m.rank(q), m.seq
	at := sort.Search(len(m.waiting), func(i int) bool { return before(q, m.waiting[i]) })
	m.waiting = slices.Insert(m.waiting, at, q)
}

// before reports whether a query goes before another one.
func before(a, b *Query) bool { return a.rank < b.rank || a.rank == b.rank && a.seq < b.seq }

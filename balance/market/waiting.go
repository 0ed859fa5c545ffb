package market

import (
	"math"
	"slices"
	"sort"
)

// mostWorth is Update where what waits is ordered by what it would deliver on that offer.
func (m *Market) mostWorth(now float64, o *Offer) *Query {
	best, most := -1, math.Inf(-1)
	m.waiting = slices.DeleteFunc(m.waiting, func(q *Query) bool { return now >= q.Deadline })
	for i, q := range m.waiting {
		w := q.worth(m.begins(now, o), o)
		first := w > most || m.equalByBid && w == most && q.Bid > m.waiting[best].Bid
		if first && m.accepts(now, o, q) {
			best, most = i, w
		}
	}
	if best < 0 {
		return nil
	}
	q := m.waiting[best]
	m.waiting = slices.Delete(m.waiting, best, best+1)
	m.match(now, o, q)
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

// InTime reports whether a task that runs elsewhere may move to an offer for all that its deadline says.
func (m *Market) InTime(now float64, o *Offer, q *Query) bool {
	return !m.judgesRunning || m.meets(now, q, o.Rate(), true)
}

// meets reports whether a query begun at a time and a speed is taken to end by its deadline; moves = it has begun.
func (m *Market) meets(begin float64, q *Query, speed float64, moves bool) bool {
	left := q.Left
	switch {
	case math.IsInf(q.Deadline, 1), moves && m.judged == Unjudged:
		return true
	case m.judged == ByWhole:
		left = q.Size
	}
	return begin+left/speed <= q.Deadline
}

package market

import (
	"cmp"
	"math"
	"slices"
)

// Match is a query that a tick has given to an offer.
type Match struct {
	Query *Query
	Offer *Offer
}

// Tick raises bids that age, and matches what waits, the first first; it appends the matches.
func (m *Market) Tick(now float64, matches []Match) []Match {
	cheapest := math.Inf(1)
	for _, o := range m.offers {
		cheapest = min(cheapest, o.Price)
	}
	aged := false
	for _, q := range m.waiting {
		if q.ageing != (Ageing{}) {
			q.Bid, aged = q.ageing.Bid(now-q.Created), true
			q.rank = m.rank(q)
		}
	}
	if aged {
		slices.SortFunc(m.waiting, func(a, b *Query) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.seq, b.seq))
		})
	}
	kept := m.waiting[:0]
	for i, q := range m.waiting {
		if now >= q.Deadline {
			continue
		}
		if q.Bid < cheapest && m.p.Order == ByBid {
			kept = append(kept, m.waiting[i:]...)
			break
		}
		if o := m.find(now, q); o != nil {
			m.match(now, o, q)
			matches = append(matches, Match{q, o})
			continue
		}
		kept = append(kept, q)
	}
	m.waiting = kept
	return matches
}

package market

import (
	"cmp"
	"slices"
	"testing"

	"skep/grid"
)

// The book agrees with a list that is searched whole each time.
func TestAgainstList(t *testing.T) {
	for seed := range uint64(200) {
		r := grid.NewRand(seed, 1)
		name := []string{"cda", "fifo", "sjf", "hbp", "hbp_t:2"}[r.IntN(5)]
		p := mustParse(t, name)
		m := New(p, offers(1, 2, 2, 3))
		var list []*Query
		for id := range uint64(100) {
			now := float64(id)
			if r.IntN(2) == 0 {
				q := task(id+1, 1+float64(r.IntN(5)), 1+float64(r.IntN(6)))
				if r.IntN(3) == 0 {
					q.Deadline = now + 1 + float64(r.IntN(9))
				}
				if m.Query(now, q) == nil {
					list = append(list, q)
				}
				continue
			}
			o := m.offers[r.IntN(4)]
			o.Given, o.Busy, o.High = 0, r.IntN(2) == 0, float64(r.IntN(4))
			o.Price = float64(r.IntN(3))
			list = slices.DeleteFunc(list, func(q *Query) bool { return now >= q.Deadline })
			best := -1
			for i, q := range list {
				if !suits(p, o, q, now) {
					continue
				}
				if best < 0 || order(p, q) < order(p, list[best]) {
					best = i
				}
			}
			got := m.Update(now, o)
			if best < 0 && got == nil {
				continue
			}
			if best < 0 || got != list[best] {
				t.Fatalf("%s: at %g the book gives %+v, the list has %d of %d; go test ./balance/market -run "+
					"TestAgainstList, seed %d", name, now, got, best, len(list), seed)
			}
			list = slices.Delete(list, best, best+1)
		}
	}
}

func suits(p Protocol, o *Offer, q *Query, now float64) bool {
	if p.Candidate == Outbids && o.Busy && (q.Bid <= o.High || q.Bid < p.Outbid*o.High) {
		return false
	}
	return q.Bid >= o.Price && now+q.Size/o.Rate() <= q.Deadline
}

func order(p Protocol, q *Query) float64 {
	return cmp.Or(map[Order]float64{ByBid: -q.Bid, BySize: q.Size}[p.Order], 0)
}

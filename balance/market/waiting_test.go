package market

import "testing"

// A server that takes a task ahead begins it when those that it has are done, and so what waits counts with what it
// will be worth then: nothing is left at 10 of a bid of 4 that falls to zero at 6.
func TestWorthIsThatAtTheBegin(t *testing.T) {
	m := New(mustParse(t, "cda_tdb"), offers(1))
	m.Ahead(1)
	o := m.offers[0]
	m.Query(0, task(1, 10, 1))
	m.Query(0, task(2, 10, 1)) // ahead
	urgent, patient := task(3, 1, 4), task(4, 1, 1)
	urgent.Value = Value{Slow1: 5, Slow2: 6}
	m.Query(0, urgent)
	m.Query(0, patient)
	o.Given, o.Due = 1, 10
	if q := m.Update(0, o); q != patient {
		t.Errorf("an offer due at 10 gets task %d: want 4, as the other one will be worth nothing", q.ID)
	}
	o.Given = 0
	if q := m.Update(0, o); q != urgent {
		t.Error("a free offer does not get the task that is worth most now")
	}
}

// A task that runs elsewhere moves though it will be late, or is judged as one that was suspended.
func TestTasksThatRunAreJudged(t *testing.T) {
	for _, judged := range []bool{false, true} {
		m := New(mustParse(t, "pe_a"), offers(1))
		m.Judge(ByWhole, judged)
		q := task(1, 4, 9)
		q.Runs, q.From, q.Slower = true, 5, 0.5
		for deadline, late := range map[float64]bool{3.9: true, 4: false} {
			q.Deadline, m.offers[0].Busy = deadline, false
			want := !late || !judged
			if got := m.InTime(0, m.offers[0], q); got != want {
				t.Errorf("judged: %v: of a deadline of %g it may have the offer: %v, want %v", judged, deadline, got, want)
			}
			if got := m.Query(0, q) != nil; got != want {
				t.Errorf("judged: %v: of a deadline of %g it gets the offer: %v, want %v", judged, deadline, got, want)
			}
		}
	}
}

// Of two tasks that are worth nothing any more an offer gets the one that came first, or the one that bids more.
func TestOfEqualWorth(t *testing.T) {
	for _, byBid := range []bool{false, true} {
		m := New(mustParse(t, "cda_tdb"), offers(1))
		m.EqualByBid(byBid)
		m.Query(0, task(1, 10, 1))
		low, high := task(2, 1, 1), task(3, 1, 4)
		for _, q := range []*Query{low, high} {
			q.Value = Value{Slow1: 5, Slow2: 6}
			m.Query(0, q)
		}
		o := m.offers[0]
		o.Given = 0
		if q := m.Update(10, o); q != map[bool]*Query{false: low, true: high}[byBid] {
			t.Errorf("by bid: %v: the offer gets task %d", byBid, q.ID)
		}
	}
}

package marketplace

import (
	"math"
	"strings"
	"testing"

	"skep/balance/market"
)

// A server does not go on with a suspended task whose deadline has passed, where those are dropped.
func TestDropLate(t *testing.T) {
	of := func(bid, deadline float64) *task {
		return &task{at: -1, query: market.Query{Size: 1, Left: 1, Bid: bid, Deadline: deadline}}
	}
	for _, drops := range []bool{false, true} {
		s := server{speed: 1, units: 1, discipline: discipline{serving: market.Preemptive}, dropsLate: drops}
		late, timely, high := of(2, 3), of(1, 30), of(3, 30)
		for _, x := range []*task{timely, late, high} {
			s.add(x)
		}
		s.advance(3)
		want := map[bool]*task{false: late, true: timely}[drops]
		if resumed := s.remove(high); resumed != want || s.running != want {
			t.Errorf("late tasks dropped: %v: resumed the task of bid %g, want %g", drops, resumed.query.Bid, want.query.Bid)
		}
		if gone := late.at < 0; gone != drops {
			t.Errorf("late tasks dropped: %v: the late one is gone: %v", drops, gone)
		}
	}
}

// A server's news say that it is idle, and were sent before a task reached it: the matcher remembers the task, or takes
// the news as they are.
func TestLastNews(t *testing.T) {
	p, err := market.Parse("hbp")
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range []bool{false, true} {
		m := newMatcher(p, []server{{speed: 1, units: 1}}, &System{Readings: Readings{LastNews: last}})
		q := &market.Query{ID: 7, Size: 1, Left: 1, Bid: 2, Deadline: math.Inf(1), From: -1}
		o := m.book.Query(0, q)
		m.sent(o, q)
		m.hear(&news{available: 1})
		if o.Busy == last {
			t.Errorf("last news alone: %v: the offer executes a task: %v", last, o.Busy)
		}
		m.hear(&news{available: 1, arrived: 1, busy: true, high: 2, running: 7})
		if !o.Busy || o.High != 2 {
			t.Errorf("last news alone: %v: the task has come, and the offer is %+v", last, o)
		}
	}
}

// The reserve price is the revenue over what was offered, or over all that the server could do.
func TestRevenueBasis(t *testing.T) {
	for whole, want := range map[bool]float64{false: 1, true: 0.5} {
		s := server{speed: 1, units: 10, takes: 5, background: 1, whole: whole}
		s.advance(4) // 20 of 40 are the background's
		s.revenue.Sold(2, 10)
		if got := s.revenue.Price(0); math.Abs(got-want) > 1e-12 {
			t.Errorf("over all capacity: %v: price %g, want %g", whole, got, want)
		}
	}
}

func TestReadReadings(t *testing.T) {
	s, err := Read("m.yaml", []byte("readings: {deadlines: none, news: last, late: dropped, revenue: capacity, "+
		"paid: all, running: judged}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Readings{Deadlines: market.Unjudged, LastNews: true, DropLate: true, WholeCapacity: true,
		PaysLate: true, JudgeRunning: true}
	if s.Readings != want {
		t.Errorf("read %+v, want %+v", s.Readings, want)
	}
	_, err = Read("m.yaml", []byte("readings: {late: gone}\n"))
	if says := `m.yaml:1:18: late "gone": want kept or dropped`; err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want one with %q", err, says)
	}
}

// A server is paid for a result that comes by its deadline, and for a late one only where all are paid.
func TestLateResultsEarnNothing(t *testing.T) {
	for all, want := range map[bool]float64{false: 0.4, true: 1} {
		e := &engine{sys: &System{Readings: Readings{PaysLate: all}}, now: 5, servers: make([]server, 1)}
		s := &e.servers[0]
		s.speed, s.units = 1, 1
		s.advance(5)
		for _, q := range []market.Query{{Size: 1, Bid: 2, Deadline: 5}, {Size: 1, Bid: 3, Deadline: 4}} {
			x := e.tasks.add()
			q.ID = x.query.ID
			x.query = q
			e.message(event{kind: result, task: x.id()}, x)
		}
		if got := s.revenue.Price(0); math.Abs(got-want) > 1e-12 {
			t.Errorf("all are paid: %v: price %g, want %g", all, got, want)
		}
	}
}

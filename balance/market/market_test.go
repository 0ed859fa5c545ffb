package market

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func mustParse(t *testing.T, name string) Protocol {
	t.Helper()
	p, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// task is a query of a size and a bid that can wait for ever.
func task(id uint64, size, bid float64) *Query {
	return &Query{ID: id, Size: size, Left: size, Bid: bid, Deadline: math.Inf(1), From: -1}
}

func offers(rates ...float64) []*Offer {
	var out []*Offer
	for j, r := range rates {
		out = append(out, &Offer{Server: int32(j), Speed: r, Available: 1})
	}
	return out
}

func server(o *Offer) int {
	if o == nil {
		return -1
	}
	return int(o.Server)
}

// An arriving task takes the fastest free server, the first of equals, and a freed server the waiting task that the
// protocol puts first [1, section 6.5.1].
func TestOrders(t *testing.T) {
	for name, want := range map[string][]uint64{"cda": {3, 2, 4}, "fifo": {2, 3, 4}, "sjf": {4, 3, 2}} {
		m := New(mustParse(t, name), offers(1, 2, 2))
		var got []int
		for id := range uint64(3) {
			got = append(got, server(m.Query(0, task(10+id, 1, 1))))
		}
		if !slices.Equal(got, []int{1, 2, 0}) {
			t.Errorf("%s: tasks went to %v, want the fastest first, then the first: [1 2 0]", name, got)
		}
		for _, q := range []*Query{task(2, 3, 5), task(3, 2, 7), task(4, 1, 1)} {
			if o := m.Query(0, q); o != nil {
				t.Errorf("%s: server %d was given away twice", name, o.Server)
			}
		}
		var order []uint64
		for range 3 {
			o := m.offers[1]
			o.Given = 0
			order = append(order, m.Update(1, o).ID)
		}
		if !slices.Equal(order, want) {
			t.Errorf("%s: tasks that wait go in the order %v, want %v", name, order, want)
		}
	}
}

// Round robin goes on after the server of the last match, whatever the speeds [1, appendix A.2.4].
func TestRing(t *testing.T) {
	m := New(mustParse(t, "rr"), offers(1, 9, 5))
	for i, want := range []int{0, 1, 2} {
		if got := server(m.Query(0, task(uint64(i+1), 1, 1))); got != want {
			t.Errorf("task %d goes to server %d, want %d", i, got, want)
		}
	}
	m.offers[0].Given, m.offers[2].Given = 0, 0
	if got := server(m.Query(0, task(9, 1, 1))); got != 0 {
		t.Errorf("the next task goes to server %d, want 0", got)
	}
	if got := server(m.Query(0, task(10, 1, 1))); got != 2 {
		t.Errorf("then to server %d, want 2: 1 is taken", got)
	}
}

// A server runs the task of the highest bid. Of equally fast ones an idle one is taken first, then that of the lowest
// bid; a threshold protects what runs [1, sections 6.5.5 and 6.5.6].
func TestHighestBid(t *testing.T) {
	for name, want := range map[string][]int{"hbp": {0, 1, 2, 1, 1}, "hbp_t:4": {0, 1, 2, -1, 1}} {
		m := New(mustParse(t, name), offers(1, 1, 1))
		var got []int
		for i, bid := range []float64{3, 1, 5, 2, 4} {
			got = append(got, server(m.Query(0, task(uint64(i+1), 1, bid))))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: tasks of bids 3, 1, 5, 2, 4 go to %v, want %v", name, got, want)
		}
	}
}

// With proportional shares a task goes where its own share is fastest [1, section 6.5.4].
func TestShares(t *testing.T) {
	m := New(mustParse(t, "psp"), offers(1, 2))
	for i, c := range []struct {
		bid  float64
		want int
	}{{1, 1}, {1, 0}, {3, 1}, {1, 0}} { // 2; 1 before 1; 3/4·2 before 3/4; 1/2 before 2/5
		if got := server(m.Query(0, task(uint64(i+1), 1, c.bid))); got != c.want {
			t.Errorf("task %d of bid %g goes to server %d, want %d", i+1, c.bid, got, c.want)
		}
	}
}

// A reserve price refuses lower bids, and when it falls what waits is matched [1, section 6.5.2].
func TestReservePrice(t *testing.T) {
	m := New(mustParse(t, "cda_res"), offers(1))
	o := m.offers[0]
	o.Price = 2
	if m.Query(0, task(1, 1, 1)) != nil || m.Query(0, task(2, 1, 1.5)) != nil {
		t.Fatal("a bid below the reserve price was taken")
	}
	if q := m.Update(1, o); q != nil {
		t.Fatalf("task %d was taken below the reserve price", q.ID)
	}
	o.Price = 1
	if q := m.Update(2, o); q == nil || q.ID != 2 {
		t.Errorf("the price has fallen: got %+v, want task 2", q)
	}
	var r Revenue
	if r.Price(0) != 0 {
		t.Error("a server without a past has a price")
	}
	r.Offered(10, 2)
	r.Sold(3, 4)
	if got := r.Price(0.1); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("12 earned with 20 offered, less 0.1: price %g, want 0.5", got)
	}
	if got := r.Price(1); got != 0 {
		t.Errorf("with a discount above the average: price %g, want 0", got)
	}
}

// A task that cannot meet its deadline on a server is not given to it, and is dropped when it has passed.
func TestDeadlines(t *testing.T) {
	m := New(mustParse(t, "cda"), offers(1, 4))
	slow := task(1, 4, 9)
	slow.Deadline = 2
	if got := server(m.Query(0, slow)); got != 1 {
		t.Errorf("a task that takes 4 or 1 and has 2 goes to server %d, want 1", got)
	}
	late := task(2, 4, 9)
	late.Deadline = 2
	other := task(3, 1, 1)
	if m.Query(0, late) != nil || server(m.Query(0, other)) != 0 {
		t.Error("a task that would be late was matched, or another one was not")
	}
	m.offers[1].Given = 0
	if q := m.Update(1.5, m.offers[1]); q != nil {
		t.Errorf("task %d was matched half a unit before its deadline, and takes one", q.ID)
	}
	if m.Query(2, late) != nil || m.Update(2, m.offers[1]) != nil || m.Waiting() != 0 {
		t.Errorf("%d tasks wait after their deadline", m.Waiting())
	}
}

// Time-dependent bids: the freed server gets the task that delivers most value there now [1, section 6.5.3].
func TestValue(t *testing.T) {
	v := Value{1, 3}
	for slowdown, want := range map[float64]float64{0.5: 1, 1: 1, 2: 0.5, 3: 0, 9: 0} {
		if got := v.At(slowdown); got != want {
			t.Errorf("value at a slowdown of %g: %g, want %g", slowdown, got, want)
		}
	}
	m := New(mustParse(t, "cda_tdb"), offers(1))
	m.offers[0].Given = 1
	a, b := task(1, 1, 10), task(2, 1, 4)
	a.Value, b.Value = Value{1, 3}, Value{1, 30}
	m.Query(0, a)
	m.Query(0, b)
	m.offers[0].Given = 0
	if q := m.Update(1.9, m.offers[0]); q.ID != 2 { // slowdown 2.9: 10·0.05 against 4·27.1/29
		t.Errorf("task %d was taken, want 2: the value of 1 has nearly gone", q.ID)
	}
}

// Bids that age rise in a line, and overtake at a tick; nothing is matched between the ticks of a periodic auction.
func TestTicks(t *testing.T) {
	a := Ageing{Min: 1, Max: 2, Time: 10}
	for age, want := range map[float64]float64{0: 1, 5: 1.5, 10: 2, 20: 2} {
		if got := a.Bid(age); math.Abs(got-want) > 1e-12 {
			t.Errorf("bid at an age of %g: %g, want %g", age, got, want)
		}
	}
	m := New(mustParse(t, "pda:1"), offers(1, 3))
	old, high := task(1, 1, 1), task(2, 1, 1.5)
	old.Age(a)
	high.Created = 8
	if m.Query(0, old) != nil || m.Query(8, high) != nil || m.Update(8, m.offers[0]) != nil {
		t.Error("something was matched between ticks")
	}
	got := m.Tick(9, nil)
	if len(got) != 2 || got[0].Query != old || got[0].Offer.Server != 1 || got[1].Query != high {
		t.Errorf("at the tick %d matches, want the aged task on the fastest server, then the other one", len(got))
	}
}

// Active migration takes the highest bid of the slower servers, if it outbids what runs [1, section 6.5.8, case 3].
func TestAttract(t *testing.T) {
	m := New(mustParse(t, "pe_a"), offers(2, 1, 1, 4))
	for j, bid := range []float64{3, 4, 5, 9} {
		m.Take(m.offers[j], uint64(j), bid)
	}
	if from := m.Attract(m.offers[0]); server(from) != 2 {
		t.Errorf("server 0 attracts from %d, want 2: the highest bid of the slower ones", server(from))
	}
	m.Take(m.offers[0], 9, 5)
	if from := m.Attract(m.offers[0]); from != nil {
		t.Errorf("server 0 attracts from %d, and what runs there bids as much", from.Server)
	}
	passive := New(mustParse(t, "pe_p"), m.offers)
	if passive.Attract(m.offers[3]) != nil {
		t.Error("a passive protocol moves a task that nobody suspended")
	}
}

func TestParseErrors(t *testing.T) {
	for name, want := range map[string]string{"best": `protocol "best": is not known: want one of cda,`,
		"cda:1": "cda takes no parameter", "hbp_t:0.5": "from 1 to", "pda:x": "the time between auctions"} {
		if _, err := Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	for _, name := range Names() {
		if p := mustParse(t, name); p.Outbid < 1 {
			t.Errorf("%s: factor %g, want 1 at least", name, p.Outbid)
		}
	}
}

// The deadline of a task that is to move is judged by what is left of it, by the whole, or not at all; one that has
// passed matches nothing in any case.
func TestJudged(t *testing.T) {
	for by, want := range map[Judged][2]int{ByLeft: {1, -1}, ByWhole: {-1, -1}, Unjudged: {1, 1}} {
		for i, left := range []float64{1, 4} {
			m := New(mustParse(t, "pe_p"), offers(1, 1))
			m.Judge(by, false)
			q := task(1, 4, 9)
			q.Left, q.From, q.Deadline = left, 0, 3
			if got := server(m.Query(1, q)); got != want[i] {
				t.Errorf("judged %d: with %g of 4 left and 2 units to go it moves to %d, want %d", by, left, got, want[i])
			}
			if got := server(m.Query(3, q)); got != -1 {
				t.Errorf("judged %d: past its deadline it moves to %d", by, got)
			}
		}
	}
}

// Where servers may have a task ahead, an idle one goes first however slow it is, then the one that is due first, and
// none has more; what it could not do in time it does not get.
func TestAhead(t *testing.T) {
	m := New(mustParse(t, "cda"), offers(1, 2, 2))
	m.Ahead(1)
	var got []int
	for id, size := range []float64{6, 8, 1, 1, 1, 1, 1} { // due at 3, 4 and 1, then 4.5, 1.5 …
		got = append(got, server(m.Query(0, task(uint64(id+1), size, 1))))
	}
	if want := []int{1, 2, 0, 0, 1, 2, -1}; !slices.Equal(got, want) {
		t.Errorf("tasks went to %v, want %v", got, want)
	}
	m = New(mustParse(t, "cda"), offers(1))
	m.Ahead(1)
	m.Query(0, task(1, 3, 1))
	late, early := task(2, 1, 1), task(3, 1, 1)
	late.Deadline, early.Deadline = 3.9, 4
	if a, b := m.Query(0, late), m.Query(0, early); a != nil || b == nil {
		t.Errorf("a task due at 3.9 goes to server %d, one due at 4 to %d: want none, and the one due then", server(a),
			server(b))
	}
}

// The cheapest offer that meets the deadline, of equals the fastest, among those whose price the query bids.
func TestCheapest(t *testing.T) {
	for name, c := range map[string]struct {
		prices   [3]float64
		deadline float64
		want     int
	}{
		"cheapest":           {[3]float64{0.5, 0.8, 0.9}, 9, 2}, // speeds of 1, 2 and 4
		"slower and cheaper": {[3]float64{0.2, 0.5, 0.9}, 9, 0},
		"too late there":     {[3]float64{0.2, 0.4, 1}, 3, 1},
		"nothing is asked":   {[3]float64{}, 9, 2},
		"too dear":           {[3]float64{0.9, 1.2, 1.6}, 9, 0},
	} {
		o := offers(1, 2, 4)
		for i := range o {
			o[i].Price = c.prices[i]
		}
		q := task(1, 4, 1)
		q.Deadline = c.deadline
		if got := server(New(mustParse(t, "cheapest"), o).Query(0, q)); got != c.want {
			t.Errorf("%s: server %d, want %d", name, got, c.want)
		}
	}
}

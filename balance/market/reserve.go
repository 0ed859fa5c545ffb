package market

import "math"

// Reserve is the reserve price of one node, as it follows from what ran there:
//
//	price = max(0, earned/offered − discount) · max(0, 1 − idle/patience)
//
// earned is bid times work of what ran, offered is the capacity times time, both of late: the past counts 1/e after
// Memory. idle is the time for which a core has been free and nothing has begun, patience a quarter of the mean time of
// a task here, from MinPatience to MaxPatience: one of all of it would lose a node to the grid for half of its time.
//
// So it is the rule of [1, section 6.5.2] (see [Revenue]) with three departures: work is paid as it runs, not at its
// end, since a node may run a task for days; the past is forgotten, since a grid that was busy for a week would else be
// dear for another week; and the price falls to nothing while a core stays free: no task waits for longer than
// MaxPatience beside a free core because of its bid.
//
// Invariant: 0 ≤ earned ≤ offered · the highest bid.
type Reserve struct {
	discount float64

	earned, offered float64
	last            float64 // time to which both are counted
	earning, rate   float64 // since then: bid times capacity in use, and capacity

	idle  bool    // a core is free
	since float64 // when that or the last start was
	mean  float64 // time of a task here, of late; 0 = none has ended
}

// Bounds of a reserve price, in seconds.
const (
	Memory      = 600.0 // lower follows the load sooner, and forgets the price that a burst has made
	MinPatience = 1.0   // lower gives a node away before those who bid more have had time to ask
	MaxPatience = 60.0  // higher keeps a node free for longer while tasks that bid less wait
)

// ofEach is the weight of a task's time in the mean of those that have ended.
const ofEach = 0.1

// NewReserve returns the price of a node that has not run anything: 0.
func NewReserve(discount float64) Reserve { return Reserve{discount: discount} }

// Runs says what runs from now on: the sum of bid times capacity in use, and the capacity; free = some of it is not in
// use.
func (r *Reserve) Runs(now, earning, rate float64, free bool) {
	r.count(now)
	r.earning, r.rate = earning, rate
	if free && !r.idle {
		r.since = now
	}
	r.idle = free
}

// Began says that a task begins.
func (r *Reserve) Began(now float64) { r.since = now }

// Ended says how long a task took that has ended.
func (r *Reserve) Ended(seconds float64) {
	if r.mean == 0 {
		r.mean = seconds
	}
	r.mean += (seconds - r.mean) * ofEach
}

// count adds what has run up to now.
func (r *Reserve) count(now float64) {
	d := now - r.last
	if d <= 0 {
		return
	}
	left := math.Exp(-d / Memory)
	r.earned = r.earned*left + r.earning*Memory*(1-left)
	r.offered = r.offered*left + r.rate*Memory*(1-left)
	r.last = now
}

// patience is in seconds.
func (r *Reserve) patience() float64 {
	if r.mean == 0 {
		return MinPatience
	}
	return min(max(r.mean/4, MinPatience), MaxPatience)
}

// Price returns the price at a time.
func (r *Reserve) Price(now float64) float64 {
	x := *r
	x.count(now)
	if x.offered <= 0 {
		return 0
	}
	price := max(0, x.earned/x.offered-x.discount)
	if x.idle {
		price *= max(0, 1-max(now-x.since, 0)/x.patience())
	}
	return price
}

// Falling reports whether the price falls with time alone.
func (r *Reserve) Falling(now float64) bool { return r.idle && r.Price(now) > 0 }

package market

import "math"

// Offer is what a market knows of a server. Its owner sets the first part before [Market.Update]; the second part is
// what matches have left in it.
type Offer struct {
	Server    int32   // of the owner
	Speed     float64 // units of work that one resource unit does in a unit of time
	Available float64 // resource units that tasks of the market can have now
	Price     float64 // reserve price: lower bids are refused

	Given   int     // tasks that are matched with it and have not ended
	Due     float64 // time by which they will have, as far as is known; needed where Market.Ahead is not 0
	Bids    float64 // sum of the bids of the tasks that it was given
	Busy    bool    // it executes a task
	High    float64 // the bid of the task that it executes
	Running uint64  // that task's ID
}

// Rate is the speed at which a task would run alone.
func (o *Offer) Rate() float64 { return o.Speed * o.Available }

// Query is a task that looks for a server.
type Query struct {
	ID       uint64
	Size     float64 // units of work
	Left     float64 // of them not done yet
	Bid      float64
	Created  float64 // time
	Deadline float64 // after which its result is worth nothing; +Inf = none
	Value    Value   // of which the bid is the initial value; the zero value never falls

	From   int32   // server where it is suspended or runs, no candidate; -1 = none
	Runs   bool    // it goes on running there, and no candidate is one that is not faster
	Slower float64 // speed at which it runs

	ageing Ageing
	rank   float64 // in the order of those that wait: the lowest is first
	seq    uint64
}

// Judged says by what the deadline of a task that is to move is judged, which [1] leaves open: it says that of a query
// which arrives, S/s is what the task takes on an offer.
type Judged uint8

// Judgements.
const (
	ByLeft   Judged = iota // by what is left of it
	ByWhole                // as if it had not begun
	Unjudged               // not: it moves though it will be late, until the deadline has passed
)

// Value is how the value of a task falls with its slowdown, the time until it is done over the time that it would take
// on the reference server: it is the whole up to Slow1, and falls in a line to zero at Slow2 [1, section 6.5.3].
type Value struct {
	Slow1, Slow2 float64 // both 0 = it does not fall
}

// At returns which part of the value is left at a slowdown.
func (v Value) At(slowdown float64) float64 {
	switch {
	case v == Value{} || slowdown <= v.Slow1:
		return 1
	case slowdown >= v.Slow2:
		return 0
	}
	return (v.Slow2 - slowdown) / (v.Slow2 - v.Slow1)
}

// worth is what a query would deliver if an offer began it at a time.
func (q *Query) worth(begin float64, o *Offer) float64 {
	if q.Size <= 0 {
		return q.Bid
	}
	return q.Bid * q.Value.At((begin-q.Created+q.Left/o.Rate())/q.Size)
}

// Ageing raises the bid of a query that waits, in a line from Min at its creation to Max after Time, so that no query
// waits for ever behind higher ones [1, appendix A.2.5]. The zero value does not.
type Ageing struct {
	Min, Max, Time float64
}

// Bid returns the bid of a query of an age.
func (a Ageing) Bid(age float64) float64 {
	if age >= a.Time {
		return a.Max
	}
	return a.Max + (age-a.Time)/a.Time*(a.Max-a.Min)
}

// Age makes the query's bid rise at ticks.
func (q *Query) Age(a Ageing) { q.ageing = a }

// Revenue is what a server has earned, from which its reserve price follows: what it was paid on the average for a unit
// of the capacity that it offered, less a discount [1, section 6.5.2]. The source does not say over which past and
// capacity the average is; that it is the mean price times the utilisation since the start was found to agree with its
// figures.
type Revenue struct {
	earned, offered float64
	last            float64 // time to which offered is counted
}

// Offered counts capacity, in units of work for a unit of time, up to now.
func (r *Revenue) Offered(now, rate float64) {
	r.offered += rate * (now - r.last)
	r.last = now
}

// Sold counts a task that has ended.
func (r *Revenue) Sold(bid, size float64) { r.earned += bid * size }

// Price returns the reserve price; 0 before anything was offered.
func (r *Revenue) Price(discount float64) float64 {
	if r.offered <= 0 {
		return 0
	}
	return math.Max(0, r.earned/r.offered-discount)
}

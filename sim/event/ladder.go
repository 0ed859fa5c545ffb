package event

import "slices"

// Ladder is a priority queue of events ordered by (At, Seq), the ladder queue of [1]: far events are unsorted in the
// top, nearer ones in the buckets of rungs, where each rung divides one bucket of the rung above, and only the next few
// events are sorted, in the bottom. An event is moved a few times and sorted once among few, whatever the number
// pending.
//
// Departures from [1]: a bucket holds about a dozen events instead of one, in pieces of memory that pass from bucket
// to bucket; a rung spans the events that it is made from instead of the whole bucket, so that clusters are split at
// once; events outside of that span go to the first or last bucket.
type Ladder struct {
	bottom []Event // sorted from head on
	head   int
	rungs  []rung // coarse to fine; memory beyond the length is reused
	top    list
	topMin uint64
	topMax uint64
	topLo  uint64 // events at this time or later belong to the top
	pieces pieces
	n      int
}

const (
	perBucket = 14  // events a bucket of a new rung aims at
	sortMax   = 64  // largest bucket that is sorted at once instead of split
	spillMax  = 256 // size of the bottom from which it becomes a rung
	rungsMax  = 8   // rungs; at the last one, buckets of any size are sorted
)

// NewLadder returns an empty ladder.
func NewLadder() *Ladder { return &Ladder{rungs: make([]rung, 0, rungsMax)} }

// Len is the number of events.
func (q *Ladder) Len() int { return q.n }

// Push adds an event, whose At is not negative.
func (q *Ladder) Push(e Event) {
	q.n++
	k := uint64(e.At)
	if k >= q.topLo {
		if q.top.n == 0 {
			q.topMin, q.topMax = k, k
		}
		q.topMin, q.topMax = min(q.topMin, k), max(q.topMax, k)
		q.pieces.put(&q.top, &e)
		return
	}
	for i := range q.rungs {
		if r := &q.rungs[i]; k >= r.lo {
			q.pieces.put(r.bucket(k), &e)
			return
		}
	}
	q.insert(&e)
}

// Pop removes the first event and reports whether there was one.
func (q *Ladder) Pop() (Event, bool) {
	if q.head == len(q.bottom) && !q.refill() {
		return Event{}, false
	}
	e := q.bottom[q.head]
	q.head++
	q.n--
	return e, true
}

// Upcoming lists the first events in order, as far as they are sorted; valid until the next call.
func (q *Ladder) Upcoming() []Event { return q.bottom[q.head:] }

// insert puts e into its place in the bottom.
func (q *Ladder) insert(e *Event) {
	q.bottom = append(q.bottom, *e)
	b := q.bottom[q.head:]
	at := len(b) - 1
	if at > 0 && e.Before(&b[at-1]) {
		lo := 0
		for lo < at {
			if mid := (lo + at) / 2; e.Before(&b[mid]) {
				at = mid
			} else {
				lo = mid + 1
			}
		}
		copy(b[at+1:], b[at:])
		b[at] = *e
	}
	if len(b) > spillMax && len(q.rungs) < rungsMax && b[0].At != b[len(b)-1].At {
		q.spill()
	}
}

// spill makes the bottom the finest rung.
func (q *Ladder) spill() {
	b := q.bottom[q.head:]
	r := q.rung(0, q.above(), uint64(b[0].At), uint64(b[len(b)-1].At), len(b))
	for i := range b {
		q.pieces.put(r.bucket(uint64(b[i].At)), &b[i])
	}
	q.bottom, q.head = q.bottom[:0], 0
}

// above returns the time from which events do not belong to the bottom.
func (q *Ladder) above() uint64 {
	if n := len(q.rungs); n > 0 {
		return q.rungs[n-1].lo
	}
	return q.topLo
}

// refill moves the next events into the empty bottom and reports whether there are any.
func (q *Ladder) refill() bool {
	q.bottom, q.head = q.bottom[:0], 0
	for {
		if len(q.rungs) == 0 {
			if q.top.n == 0 {
				return false
			}
			lo, top := q.topLo, q.top
			q.topLo, q.top = q.topMax+1, list{}
			if q.take(top, lo, q.topLo, q.topMin, q.topMax) {
				return true
			}
			continue
		}
		r := &q.rungs[len(q.rungs)-1]
		lo, bucket, ok := r.next()
		if !ok {
			q.rungs = q.rungs[:len(q.rungs)-1]
			continue
		}
		var first, last uint64
		if bucket.n > sortMax {
			first, last = q.pieces.span(bucket)
		}
		if q.take(bucket, lo, r.lo, first, last) {
			return true
		}
	}
}

// take sorts the events of l, which are in [lo, hi) and span first … last, into the bottom and returns true; if they
// are too many it makes them a rung and returns false.
func (q *Ladder) take(l list, lo, hi, first, last uint64) bool {
	if l.n > sortMax && first != last && len(q.rungs) < rungsMax {
		r := q.rung(lo, hi, first, last, int(l.n))
		q.pieces.drain(l, func(e *Event) { q.pieces.put(r.bucket(uint64(e.At)), e) })
		return false
	}
	q.pieces.drain(l, func(e *Event) { q.bottom = append(q.bottom, *e) })
	sortEvents(q.bottom)
	return true
}

// rung adds a rung for [lo, hi), with buckets for n events that span first … last.
func (q *Ladder) rung(lo, hi, first, last uint64, n int) *rung {
	q.rungs = q.rungs[:len(q.rungs)+1]
	r := &q.rungs[len(q.rungs)-1]
	buckets := uint64(n/perBucket + 1)
	r.lo, r.hi, r.start, r.width = lo, hi, first, (last-first)/buckets+1
	r.cur = 0
	r.buckets = slices.Grow(r.buckets[:0], int(buckets))[:buckets]
	clear(r.buckets)
	return r
}

// sortEvents sorts; insertion sort, as most calls are for a handful of events.
func sortEvents(b []Event) {
	if len(b) > 24 {
		slices.SortFunc(b, func(x, y Event) int { return compare(&x, &y) })
		return
	}
	for i := 1; i < len(b); i++ {
		if e := b[i]; e.Before(&b[i-1]) {
			j := i
			for ; j > 0 && e.Before(&b[j-1]); j-- {
				b[j] = b[j-1]
			}
			b[j] = e
		}
	}
}

func compare(x, y *Event) int {
	if x.Before(y) {
		return -1
	}
	return 1
}

package sim

import "slices"

// Ladder is a ladder queue [1]: what is far lies unsorted in the top, what is nearer in the buckets of
// rungs, each rung as fine as the one bucket above it that it was made from, and only the next few
// events lie sorted in the bottom. An event is moved a few times and sorted once among few, whatever
// the number pending.
//
// Departures from [1]: a bucket holds about a dozen events and not one, in pieces of memory that pass from
// bucket to bucket; a rung spans the events that it is made from, and not the whole of the bucket, so
// that clusters are split at once; what lies outside of that span goes to the first or last bucket.
type Ladder struct {
	bottom []Event // sorted from head on
	head   int
	rungs  []rung // coarse to fine; memory of those beyond the length is used again
	top    list
	topMin uint64
	topMax uint64
	topLo  uint64 // what is at this time or later belongs to the top
	pieces pieces
	n      int
}

const (
	perBucket = 14  // events in a bucket that a new rung aims at
	sortMax   = 64  // events of a bucket that are sorted at once, and not split
	spillMax  = 256 // events in the bottom from which it is made a rung
	rungsMax  = 8   // rungs; at the last, buckets of any size are sorted
)

// NewLadder returns an empty ladder.
func NewLadder() *Ladder { return &Ladder{rungs: make([]rung, 0, rungsMax)} }

// Len is the number of events.
func (q *Ladder) Len() int { return q.n }

// Push adds an event.
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

// Pop takes the first event out.
func (q *Ladder) Pop() (Event, bool) {
	if q.head == len(q.bottom) && !q.refill() {
		return Event{}, false
	}
	e := q.bottom[q.head]
	q.head++
	q.n--
	return e, true
}

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

// above is the time from which events do not belong to the bottom.
func (q *Ladder) above() uint64 {
	if n := len(q.rungs); n > 0 {
		return q.rungs[n-1].lo
	}
	return q.topLo
}

// refill fills the empty bottom with the next events and reports whether there are any.
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

// take sorts the events of l, which lie in [lo, hi) and span first … last, into the bottom and reports
// true, or makes them a rung where they are too many.
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

// rung adds a rung for what lies in [lo, hi), with buckets for n events that span first … last.
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

// sortEvents sorts; most calls are for a handful of events.
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

package balance

import (
	"time"

	"skep/grid"
)

// Bounds of what is kept of one's own placements on a node: their number, and for how long one counts
// that no news has come about.
const (
	maxDebits = 64
	debitLife = 60 * time.Second
)

// debits remembers, node by node, the work that this decider sent and that an answer may not tell of yet.
// A burst is decided in less than a round trip: without them all of it would go to the node that was the
// soonest before.
type debits struct{ of [][]debit } // by index of the node; oldest first

// debit is what was placed on a node at one time.
type debit struct {
	at   grid.Time
	cost float64 // seconds by which it puts off what comes after it
}

// add charges a node. Placements of one moment count together; where there are too many moments the
// oldest is taken for as young as the one after it, which charges it rather longer than too short.
func (d *debits) add(j int32, at grid.Time, cost float64) {
	if !(cost > 0) {
		return
	}
	for int(j) >= len(d.of) {
		d.of = append(room(d.of), nil)
	}
	q := d.of[j]
	old := 0
	for old < len(q) && q[old].at < before(at, debitLife) {
		old++
	}
	q = append(q[:0], q[old:]...)
	switch n := len(q); {
	case n > 0 && q[n-1].at >= at:
		q[n-1].cost += cost
	case n == maxDebits:
		q[1].cost += q[0].cost
		copy(q, q[1:])
		q[n-1] = debit{at, cost}
	default:
		q = append(q, debit{at, cost})
	}
	d.of[j] = q
}

// since returns what was placed on a node after a time and still counts, in seconds.
func (d *debits) since(j int32, after, now grid.Time) float64 {
	if int(j) >= len(d.of) {
		return 0
	}
	after = max(after, before(now, debitLife))
	var sum float64
	q := d.of[j]
	for k := len(q) - 1; k >= 0 && q[k].at > after; k-- {
		sum += q[k].cost
	}
	return sum
}

// newest and oldest take back a charge of that cost.
func (d *debits) newest(j int32, cost float64) {
	if int(j) < len(d.of) {
		for q := d.of[j]; len(q) > 0 && cost > 0; q = d.of[j] {
			n := len(q) - 1
			if cost < q[n].cost {
				q[n].cost -= cost
				return
			}
			cost -= q[n].cost
			d.of[j] = q[:n]
		}
	}
}

func (d *debits) oldest(j int32, cost float64) {
	if int(j) < len(d.of) {
		for q := d.of[j]; len(q) > 0 && cost > 0; q = d.of[j] {
			if cost < q[0].cost {
				q[0].cost -= cost
				return
			}
			cost -= q[0].cost
			d.of[j] = append(q[:0], q[1:]...)
		}
	}
}

// drop forgets a node.
func (d *debits) drop(j int32) {
	if int(j) < len(d.of) {
		d.of[j] = d.of[j][:0]
	}
}

// quiet reports whether nothing that was placed on a node still counts.
func (d *debits) quiet(j int32, now grid.Time) bool {
	return d.since(j, before(now, debitLife), now) == 0
}

// before returns t − d, and the beginning of time where that would overflow or d is negative nonsense.
func before(t grid.Time, d time.Duration) grid.Time {
	if d <= 0 {
		return t
	}
	if u := t - grid.Time(d); u < t {
		return u
	}
	return -grid.Never
}

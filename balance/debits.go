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
// soonest before. Few nodes are charged at a time.
type debits struct{ of []account }

// account is what a node is charged, oldest first. An empty one is anybody's.
type account struct {
	node int32
	q    []debit
}

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
	a := d.account(j)
	if a == nil {
		a = d.open(j)
	}
	q := a.q
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
	a.q = q
}

// account returns what a node is charged, nil if that is nothing.
func (d *debits) account(j int32) *account {
	for k := range d.of {
		if a := &d.of[k]; a.node == j && len(a.q) > 0 {
			return a
		}
	}
	return nil
}

// open makes an account, of an empty one if there is one.
func (d *debits) open(j int32) *account {
	for k := range d.of {
		if a := &d.of[k]; len(a.q) == 0 {
			a.node = j
			return a
		}
	}
	d.of = append(grid.Room(d.of, few), account{node: j})
	return &d.of[len(d.of)-1]
}

// since returns what was placed on a node after a time and still counts, in seconds.
func (d *debits) since(j int32, after, now grid.Time) float64 {
	a := d.account(j)
	if a == nil {
		return 0
	}
	after = max(after, before(now, debitLife))
	var sum float64
	q := a.q
	for k := len(q) - 1; k >= 0 && q[k].at > after; k-- {
		sum += q[k].cost
	}
	return sum
}

// newest and oldest take back a charge of that cost.
func (d *debits) newest(j int32, cost float64) {
	for a := d.account(j); a != nil && len(a.q) > 0 && cost > 0; {
		n := len(a.q) - 1
		if cost < a.q[n].cost {
			a.q[n].cost -= cost
			return
		}
		cost -= a.q[n].cost
		a.q = a.q[:n]
	}
}

func (d *debits) oldest(j int32, cost float64) {
	for a := d.account(j); a != nil && len(a.q) > 0 && cost > 0; {
		if cost < a.q[0].cost {
			a.q[0].cost -= cost
			return
		}
		cost -= a.q[0].cost
		a.q = append(a.q[:0], a.q[1:]...)
	}
}

// drop forgets a node.
func (d *debits) drop(j int32) {
	if a := d.account(j); a != nil {
		a.q = a.q[:0]
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
